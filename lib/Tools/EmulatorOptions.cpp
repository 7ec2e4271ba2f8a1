//===- EmulatorOptions.cpp - What the command line asks of the emulator ---===//

#include "tile/Tools/EmulatorOptions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace llvm::opt;
using namespace tile;

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

/// Parses `BLOCK:WARP[:LANE]`, BLOCK being `X[,Y[,Z]]`.
static Error parseTrace(StringRef text, emulator::TraceOptions &trace) {
  SmallVector<StringRef, 3> parts, block;
  text.split(parts, ':');
  parts.front().split(block, ',');
  emulator::Dim3 at = {0, 0, 0};
  unsigned *coordinates[] = {&at.x, &at.y, &at.z};
  bool valid = (parts.size() == 2 || parts.size() == 3) && block.size() <= 3;
  for (size_t dim = 0; valid && dim < block.size(); ++dim)
    valid = !block[dim].getAsInteger(10, *coordinates[dim]);
  valid = valid && !parts[1].getAsInteger(10, trace.warp) && trace.warp < 32;
  unsigned lane = 0;
  if (valid && parts.size() == 3) {
    valid = !parts[2].getAsInteger(10, lane) && lane < 32;
    trace.lane = static_cast<int>(lane);
  }
  if (!valid)
    return createStringError("--trace expects BLOCK:WARP[:LANE], such as "
                             "0,1:2 or 3:0:31, with warps and lanes below 32, "
                             "but got '" +
                             text + "'");
  trace.block = at;
  trace.enabled = true;
  return Error::success();
}

/// Parses `ARG[+OFFSET[:BYTES]]`.
static Expected<EmulatorOptions::Watch> parseWatch(StringRef text) {
  EmulatorOptions::Watch watch;
  auto [argument, place] = text.split('+');
  auto [offset, bytes] = place.split(':');
  const bool hasOffset = argument.size() != text.size();
  const bool hasBytes = offset.size() != place.size();
  if (argument.getAsInteger(10, watch.argument) ||
      (hasOffset && offset.getAsInteger(10, watch.offset)) ||
      (hasBytes && (bytes.getAsInteger(10, watch.bytes) || watch.bytes == 0)))
    return createStringError("--watch expects ARG[+OFFSET[:BYTES]], such as "
                             "0+64:4, but got '" +
                             text + "'");
  return watch;
}

Expected<EmulatorOptions> tile::getEmulatorOptions(const InputArgList &args) {
  EmulatorOptions options;
  emulator::LaunchOptions &launch = options.launch;
  Expected<std::array<unsigned, 3>> grid = getGrid(args);
  if (!grid)
    return grid.takeError();
  launch.grid = {(*grid)[0], (*grid)[1], (*grid)[2]};

  if (args.getLastArgValue(OPT_accumulate) == "hardware")
    launch.accumulate = emulator::Accumulate::Hardware;
  if (args.getLastArgValue(OPT_schedule) == "random")
    launch.schedule = emulator::Schedule::Random;
  for (StringRef allowed : args.getAllArgValues(OPT_allow)) {
    launch.allowWriteWrite |= allowed == "write-write";
    launch.allowLooseTensorMemory |= allowed == "loose-tensor-memory";
  }

  Expected<std::optional<int64_t>> seed =
      getInteger(args, OPT_seed, 0, INT64_MAX);
  if (!seed)
    return seed.takeError();
  if (*seed && launch.schedule != emulator::Schedule::Random)
    return createStringError("--seed expects --schedule=random");
  launch.seed = static_cast<uint64_t>(seed->value_or(0));
  Expected<std::optional<int64_t>> steps =
      getInteger(args, OPT_step_limit, 1, INT64_MAX);
  if (!steps)
    return steps.takeError();
  if (*steps)
    launch.stepLimit = static_cast<uint64_t>(**steps);
  Expected<std::optional<int64_t>> threads =
      getInteger(args, OPT_threads, 1, 1024);
  if (!threads)
    return threads.takeError();
  launch.hostThreads = static_cast<unsigned>(threads->value_or(0));

  options.statsPerLine = args.hasArg(OPT_stats_per_line);
  if (args.hasArg(OPT_stats_EQ))
    options.stats = EmulatorOptions::Stats::Json;
  else if (args.hasArg(OPT_stats) || options.statsPerLine)
    options.stats = EmulatorOptions::Stats::Text;
  launch.collectStatistics = options.stats != EmulatorOptions::Stats::None;

  if (std::optional<StringRef> text = getValue(args, OPT_trace))
    if (Error error = parseTrace(*text, launch.trace))
      return std::move(error);
  if (std::optional<StringRef> text = getValue(args, OPT_watch)) {
    Expected<EmulatorOptions::Watch> watch = parseWatch(*text);
    if (!watch)
      return watch.takeError();
    options.watch = *watch;
  }
  return std::move(options);
}

std::string tile::findEmulatorOption(const InputArgList &args) {
  const Arg *arg = args.getLastArg(OPT_grp_emulator);
  if (!arg)
    return "";
  return StringRef(arg->getOption().getPrefixedName()).rtrim('=').str();
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

Expected<std::vector<uint64_t>>
tile::mapArrays(emulator::Memory &memory,
                ArrayRef<const ArrayArgument *> arrays,
                ArrayRef<std::string> names, uint64_t alignment) {
  std::vector<uint64_t> addresses;
  for (auto [array, name] : zip_equal(arrays, names)) {
    if (!array) {
      addresses.push_back(0);
      continue;
    }
    Expected<uint64_t> address =
        memory.map(name, array->getSpan(),
                   array->isReadOnly() ? emulator::Memory::Access::ReadOnly
                                       : emulator::Memory::Access::ReadWrite,
                   alignment);
    if (!address)
      return address.takeError();
    addresses.push_back(*address);
  }
  return std::move(addresses);
}

Error tile::resolveWatch(EmulatorOptions &options,
                         ArrayRef<const ArrayArgument *> arrays,
                         ArrayRef<std::string> names,
                         ArrayRef<uint64_t> addresses) {
  if (!options.watch)
    return Error::success();
  const EmulatorOptions::Watch &watch = *options.watch;
  if (watch.argument >= arrays.size())
    return createStringError("--watch: there is no argument " +
                             Twine(watch.argument) + ", but " +
                             Twine(arrays.size()) +
                             (arrays.size() == 1 ? " argument" : " arguments"));
  const ArrayArgument *array = arrays[watch.argument];
  if (!array)
    return createStringError("--watch: " + names[watch.argument] +
                             " is not an array");
  const uint64_t size = array->getSpan().size();
  if (watch.offset > size || watch.bytes > size - watch.offset)
    return createStringError(
        "--watch: " + names[watch.argument] + " has " + Twine(size) +
        " bytes, but got offset " + Twine(watch.offset) + " and " +
        Twine(watch.bytes) + (watch.bytes == 1 ? " byte" : " bytes"));
  options.launch.trace.watch = addresses[watch.argument] + watch.offset;
  options.launch.trace.watchBytes = watch.bytes;
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

void tile::printStatistics(const EmulatorOptions &options,
                           const emulator::Statistics &statistics) {
  if (options.stats == EmulatorOptions::Stats::Json)
    statistics.printJson(outs(), options.statsPerLine);
  else if (options.stats == EmulatorOptions::Stats::Text)
    statistics.print(outs(), options.statsPerLine);
}

Error tile::reportEmulatorError(Error error) {
  auto report = [](const ErrorInfoBase &info) -> Error {
    std::string text;
    raw_string_ostream os(text);
    info.log(os);
    errs() << StringRef(text).rtrim('\n') << '\n';
    return ReportedError::get();
  };
  return handleErrors(
      std::move(error),
      [&](const emulator::Fault &fault) { return report(fault); },
      [&](const emulator::PtxError &ptxError) { return report(ptxError); });
}
