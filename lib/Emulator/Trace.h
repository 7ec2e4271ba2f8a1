//===- Trace.h - Shows what a warp does -------------------------*- C++ -*-===//

#ifndef TILE_LIB_EMULATOR_TRACE_H
#define TILE_LIB_EMULATOR_TRACE_H

#include "Program.h"

#include <string>

namespace tile::emulator {

/// "0-15,31": the lanes of a mask.
std::string formatLanes(uint32_t mask);

/// A statement as written, with its guard, cut where it is very long.
std::string formatStatement(const Statement &statement);

/// Prints an instruction that has just been executed, with the registers that
/// it names and their values now.
void printTrace(const TraceOptions &options, const Instruction &instruction,
                const Lanes &lanes, const Code &code);

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_TRACE_H
