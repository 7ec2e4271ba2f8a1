//===- ResultSlices.cpp - A result a few columns at a time --------------===//

#include "ResultSlices.h"
