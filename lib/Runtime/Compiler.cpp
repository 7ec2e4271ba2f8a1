//===- Compiler.cpp - From a kernel's text to something to launch --------===//
