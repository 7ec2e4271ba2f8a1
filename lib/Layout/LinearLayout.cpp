#include "tile/Layout/LinearLayout.h"
