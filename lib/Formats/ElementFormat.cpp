#include "tile/Formats/ElementFormat.h"
