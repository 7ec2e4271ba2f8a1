//===- TensorOperands.cpp - Operands of tcgen05 in memory -----------------===//

#include "tile/Target/TensorOperands.h"
