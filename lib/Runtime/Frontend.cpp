//===- Frontend.cpp - The compiler, without MLIR's headers ---------------===//
