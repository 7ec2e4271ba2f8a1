//===- Device.cpp - Where kernels run ------------------------------------===//
