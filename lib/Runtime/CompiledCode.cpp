//===- CompiledCode.cpp - What one compilation leaves --------------------===//
