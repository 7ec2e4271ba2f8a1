//===- Kernel.cpp - A compiled kernel, and its launch --------------------===//
