//===- Check.cpp - Arguments against parameters --------------------------===//
