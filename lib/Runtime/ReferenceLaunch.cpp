//===- ReferenceLaunch.cpp - Launches on the reference device ------------===//
