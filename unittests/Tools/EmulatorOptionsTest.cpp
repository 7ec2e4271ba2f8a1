//===- EmulatorOptionsTest.cpp - What is asked of the emulator ------------===//

#include "tile/Tools/EmulatorOptions.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace tile;

namespace {

constexpr ToolInfo ptxRun = {"ptx-run", PtxRunOption, "", "", ""};

opt::InputArgList parse(std::vector<const char *> argv) {
  argv.insert(argv.begin(), "ptx-run");
  return cantFail(parseToolOptions(ptxRun, argv));
}

EmulatorOptions get(std::vector<const char *> argv) {
  return cantFail(getEmulatorOptions(parse(std::move(argv))));
}

std::string getError(const char *option) {
  return toString(getEmulatorOptions(parse({"--grid=1", option})).takeError());
}

TEST(EmulatorOptionsTest, DefaultsAreThoseOfTheLibrary) {
  EmulatorOptions options = get({"--grid=2,3"});
  const emulator::LaunchOptions &launch = options.launch, defaults;
  EXPECT_EQ(launch.grid.x, 2u);
  EXPECT_EQ(launch.grid.y, 3u);
  EXPECT_EQ(launch.grid.z, 1u);
  EXPECT_FALSE(launch.block);
  EXPECT_FALSE(launch.sharedBytes);
  EXPECT_EQ(launch.accumulate, defaults.accumulate);
  EXPECT_EQ(launch.schedule, defaults.schedule);
  EXPECT_EQ(launch.stepLimit, defaults.stepLimit);
  EXPECT_EQ(launch.hostThreads, defaults.hostThreads);
  EXPECT_FALSE(launch.allowWriteWrite);
  EXPECT_FALSE(launch.collectStatistics);
  EXPECT_FALSE(launch.trace.enabled);
  EXPECT_EQ(launch.trace.watchBytes, 0u);
  EXPECT_FALSE(options.watch);
  EXPECT_EQ(options.stats, EmulatorOptions::Stats::None);
}

TEST(EmulatorOptionsTest, EveryOptionArrives) {
  EmulatorOptions options =
      get({"--grid=1", "--accumulate=hardware", "--schedule=random", "--seed=9",
           "--allow=write-write", "--step-limit=123", "--threads=5",
           "--trace=4,5:6:7", "--watch=3+64:16"});
  const emulator::LaunchOptions &launch = options.launch;
  EXPECT_EQ(launch.accumulate, emulator::Accumulate::Hardware);
  EXPECT_EQ(launch.schedule, emulator::Schedule::Random);
  EXPECT_EQ(launch.seed, 9u);
  EXPECT_TRUE(launch.allowWriteWrite);
  EXPECT_EQ(launch.stepLimit, 123u);
  EXPECT_EQ(launch.hostThreads, 5u);
  EXPECT_TRUE(launch.trace.enabled);
  EXPECT_EQ(launch.trace.block.x, 4u);
  EXPECT_EQ(launch.trace.block.y, 5u);
  EXPECT_EQ(launch.trace.block.z, 0u);
  EXPECT_EQ(launch.trace.warp, 6u);
  EXPECT_EQ(launch.trace.lane, 7);
  ASSERT_TRUE(options.watch);
  EXPECT_EQ(options.watch->argument, 3u);
  EXPECT_EQ(options.watch->offset, 64u);
  EXPECT_EQ(options.watch->bytes, 16u);
}

TEST(EmulatorOptionsTest, StatisticsAreCollectedWhereTheyArePrinted) {
  using Stats = EmulatorOptions::Stats;
  EmulatorOptions text = get({"--grid=1", "--stats"});
  EXPECT_EQ(text.stats, Stats::Text);
  EXPECT_FALSE(text.statsPerLine);
  EXPECT_TRUE(text.launch.collectStatistics);
  EmulatorOptions lines = get({"--grid=1", "--stats-per-line"});
  EXPECT_EQ(lines.stats, Stats::Text);
  EXPECT_TRUE(lines.statsPerLine);
  EXPECT_TRUE(lines.launch.collectStatistics);
  EmulatorOptions json = get({"--grid=1", "--stats=json", "--stats"});
  EXPECT_EQ(json.stats, Stats::Json);
  EXPECT_TRUE(json.launch.collectStatistics);
}

TEST(EmulatorOptionsTest, TracesAndWatchesMayLeaveThingsOut) {
  EmulatorOptions trace = get({"--grid=1", "--trace=2:1"});
  EXPECT_EQ(trace.launch.trace.block.x, 2u);
  EXPECT_EQ(trace.launch.trace.warp, 1u);
  EXPECT_EQ(trace.launch.trace.lane, -1);
  EmulatorOptions whole = get({"--grid=1", "--watch=3"});
  EXPECT_EQ(whole.watch->offset, 0u);
  EXPECT_EQ(whole.watch->bytes, 1u);
  EmulatorOptions byte = get({"--grid=1", "--watch=3+8"});
  EXPECT_EQ(byte.watch->offset, 8u);
  EXPECT_EQ(byte.watch->bytes, 1u);
  for (const char *bad :
       {"--trace=0", "--trace=0:", "--trace=:0", "--trace=0:32",
        "--trace=0:0:32", "--trace=0:0:", "--trace=0,0,0,0:0", "--trace=-1:0",
        "--trace=0:0:0:0"})
    EXPECT_TRUE(StringRef(getError(bad))
                    .starts_with("--trace expects BLOCK:WARP[:LANE]"))
        << bad;
  for (const char *bad :
       {"--watch=z", "--watch=0+", "--watch=0+1:", "--watch=0+1:0",
        "--watch=+1", "--watch=0:4", "--watch=-1+0", "--watch=0+-1"})
    EXPECT_TRUE(StringRef(getError(bad))
                    .starts_with("--watch expects ARG[+OFFSET[:BYTES]]"))
        << bad;
}

TEST(EmulatorOptionsTest, ASeedWithoutItsScheduleIsAMistake) {
  EXPECT_EQ(getError("--seed=1"), "--seed expects --schedule=random");
}

TEST(EmulatorOptionsTest, NamesTheOptionThatOnlyItHas) {
  EXPECT_EQ(findEmulatorOption(parse({"--grid=1", "--threads=2"})), "");
  EXPECT_EQ(findEmulatorOption(parse({"--grid=1", "--stats=json"})), "--stats");
  EXPECT_EQ(findEmulatorOption(parse({"--seed", "1"})), "--seed");
}

TEST(EmulatorOptionsTest, ArraysAreMappedAsTheyAre) {
  ArrayArgument z = cantFail(ArrayArgument::get("out:z.npy:3x5xf32"));
  emulator::Memory memory;
  std::vector<uint64_t> addresses =
      cantFail(mapArrays(memory, {nullptr, &z}, {"n", "z"}, 16));
  ASSERT_EQ(addresses.size(), 2u);
  EXPECT_EQ(addresses[0], 0u);
  const emulator::Allocation *found = memory.find(addresses[1]);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->name, "z");
  EXPECT_EQ(found->size, 60u);
  EXPECT_EQ(found->bytes, z.getBytes().data());
  EXPECT_FALSE(found->readOnly);
  EXPECT_EQ(addresses[1] % 32, 16u);

  EmulatorOptions options = get({"--grid=1", "--watch=1+56:4"});
  cantFail(resolveWatch(options, {nullptr, &z}, {"n", "z"}, addresses));
  EXPECT_EQ(options.launch.trace.watch, addresses[1] + 56);
  EXPECT_EQ(options.launch.trace.watchBytes, 4u);
  options.watch->bytes = 5;
  EXPECT_EQ(
      toString(resolveWatch(options, {nullptr, &z}, {"n", "z"}, addresses)),
      "--watch: z has 60 bytes, but got offset 56 and 5 bytes");
  options.watch->argument = 0;
  EXPECT_EQ(
      toString(resolveWatch(options, {nullptr, &z}, {"n", "z"}, addresses)),
      "--watch: n is not an array");
  options.watch->argument = 2;
  EXPECT_EQ(
      toString(resolveWatch(options, {nullptr, &z}, {"n", "z"}, addresses)),
      "--watch: there is no argument 2, but 2 arguments");
}

TEST(EmulatorOptionsTest, WhatNamesItsPlaceIsPrintedAsItIs) {
  Error reported = reportEmulatorError(make_error<emulator::PtxError>(
      "k.ptx", emulator::Location{3, 4}, "expects a type"));
  EXPECT_TRUE(reported.isA<ReportedError>());
  consumeError(std::move(reported));
  Error other = reportEmulatorError(createStringError("something else"));
  EXPECT_FALSE(other.isA<ReportedError>());
  EXPECT_EQ(toString(std::move(other)), "something else");
}

} // namespace
