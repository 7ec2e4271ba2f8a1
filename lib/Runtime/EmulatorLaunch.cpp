//===- EmulatorLaunch.cpp - Launches on the emulator ---------------------===//
