//===- KernelLibrary.cpp - Kernels that are ready to use -----------------===//
