//===- HostDevice.cpp - The devices that are no GPU ----------------------===//
