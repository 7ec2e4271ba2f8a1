//===- TensorMultiplies.cpp - Loops for tensor memory -------------------===//

#include "TensorMultiplies.h"
