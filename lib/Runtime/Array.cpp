//===- Array.cpp - Arrays that kernels read and write --------------------===//
