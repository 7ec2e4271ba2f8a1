//===- CudaDriver.cpp - The CUDA driver, loaded at run time --------------===//
