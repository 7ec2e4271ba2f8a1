//===- CodeCache.cpp - Compiled code that processes share ----------------===//
