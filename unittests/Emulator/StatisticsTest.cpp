//===- StatisticsTest.cpp - What an emulated launch did -------------------===//

#include "tile/Emulator/Statistics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace tile::emulator;

namespace {

Statistics getExample() {
  Statistics statistics;
  statistics.blocks = 4;
  statistics.warps = 16;
  statistics.minWarpInstructions = 90;
  statistics.maxWarpInstructions = 12345;
  auto count = [&](InstructionClass kind, uint64_t issued, uint64_t threads) {
    statistics.total.issued[static_cast<unsigned>(kind)] = issued;
    statistics.total.threads[static_cast<unsigned>(kind)] = threads;
  };
  count(InstructionClass::Integer, 1000, 31000);
  count(InstructionClass::Mma, 64, 2048);
  count(InstructionClass::LoadGlobal, 500, 16000);
  count(InstructionClass::Other, 436, 436);
  statistics.total.divergent = 7;
  statistics.total.globalLoadBytes = 64000;
  statistics.total.globalLoadSectors = 2500;
  statistics.total.sharedLoadBytes = 4096;
  statistics.total.sharedStoreBytes = 2048;
  statistics.total.sharedWavefronts = 100;
  statistics.total.sharedIdealWavefronts = 60;
  statistics.total.asyncCopies = 3;
  statistics.total.asyncCopyBytes = 48;
  statistics.total.barriers = 11;
  statistics.mmas["mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"] = 64;

  Statistics::Line load;
  load.line = 21;
  load.source = "k.mlir:12";
  load.instruction = "ld.global.b32 %r1, [%rd1+4]";
  load.instructionClass = InstructionClass::LoadGlobal;
  load.counters = {500, 16000, 7, 64000, 2500, 0, 0};
  Statistics::Line shared;
  shared.line = 22;
  shared.instruction = "ld.shared.b32 \t%r2, [%r3]";
  shared.instructionClass = InstructionClass::LoadShared;
  shared.counters = {32, 1024, 0, 4096, 0, 100, 60};
  statistics.lines = {load, shared};
  return statistics;
}

TEST(StatisticsTest, EveryClassHasANameOfItsOwn) {
  StringSet<> names;
  for (unsigned i = 0; i < kNumInstructionClasses; ++i) {
    StringRef name = getInstructionClassName(static_cast<InstructionClass>(i));
    EXPECT_TRUE(names.insert(name).second) << name.str();
    EXPECT_TRUE(all_of(name, [](char c) {
      return isLower(c) || isDigit(c) || c == '-';
    })) << name.str();
  }
  EXPECT_EQ(getInstructionClassName(InstructionClass::Integer), "integer");
  EXPECT_EQ(getInstructionClassName(InstructionClass::Mma), "mma");
  EXPECT_EQ(getInstructionClassName(InstructionClass::StoreShared),
            "store-shared");
  EXPECT_EQ(getInstructionClassName(InstructionClass::Other), "other");
}

TEST(StatisticsTest, CountersAddFieldByField) {
  InstructionCounters a = {1, 2, 3, 4, 5, 6, 7};
  InstructionCounters b = {10, 200, 3000, 40000, 500000, 6000000, 70000000};
  a += b;
  EXPECT_EQ(a.issued, 11u);
  EXPECT_EQ(a.threads, 202u);
  EXPECT_EQ(a.divergent, 3003u);
  EXPECT_EQ(a.bytes, 40004u);
  EXPECT_EQ(a.sectors, 500005u);
  EXPECT_EQ(a.wavefronts, 6000006u);
  EXPECT_EQ(a.idealWavefronts, 70000007u);
}

json::Object parse(const Statistics &statistics, bool perLine) {
  std::string text;
  raw_string_ostream os(text);
  statistics.printJson(os, perLine);
  EXPECT_TRUE(StringRef(text).ends_with("}\n"));
  Expected<json::Value> value = json::parse(text);
  if (!value) {
    ADD_FAILURE() << toString(value.takeError()) << "\n" << text;
    return {};
  }
  return *value->getAsObject();
}

TEST(StatisticsTest, JsonHoldsEveryCounter) {
  json::Object all = parse(getExample(), /*perLine=*/true);
  EXPECT_EQ(all.getInteger("blocks"), 4);
  EXPECT_EQ(all.getInteger("warps"), 16);
  const json::Object &instructions = *all.getObject("instructions");
  EXPECT_EQ(instructions.getInteger("issued"), 2000);
  EXPECT_EQ(instructions.getInteger("threads"), 49484);
  EXPECT_EQ(instructions.getInteger("divergent"), 7);
  EXPECT_EQ(instructions.getInteger("min-per-warp"), 90);
  EXPECT_EQ(instructions.getInteger("max-per-warp"), 12345);
  const json::Object &classes = *instructions.getObject("classes");
  EXPECT_EQ(classes.size(), kNumInstructionClasses);
  EXPECT_EQ(classes.getObject("integer")->getInteger("threads"), 31000);
  EXPECT_EQ(classes.getObject("barrier")->getInteger("issued"), 0);
  EXPECT_EQ(all.getObject("mma")->getInteger(
                "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"),
            64);
  const json::Object &loads = *all.getObject("global-loads");
  EXPECT_EQ(loads.getInteger("bytes"), 64000);
  EXPECT_EQ(loads.getInteger("sectors"), 2500);
  EXPECT_DOUBLE_EQ(loads.getNumber("efficiency").value_or(0), 0.8);
  // Nothing was stored, and 0 / 0 is no number.
  EXPECT_EQ(all.getObject("global-stores")->get("efficiency")->kind(),
            json::Value::Null);
  const json::Object &shared = *all.getObject("shared");
  EXPECT_EQ(shared.getInteger("load-bytes"), 4096);
  EXPECT_EQ(shared.getInteger("store-bytes"), 2048);
  EXPECT_EQ(shared.getInteger("wavefronts"), 100);
  EXPECT_EQ(shared.getInteger("ideal-wavefronts"), 60);
  EXPECT_EQ(shared.getInteger("bank-conflicts"), 40);
  EXPECT_EQ(all.getObject("async-copies")->getInteger("count"), 3);
  EXPECT_EQ(all.getObject("async-copies")->getInteger("bytes"), 48);
  EXPECT_EQ(all.getInteger("barriers"), 11);

  const json::Array &lines = *all.getArray("lines");
  ASSERT_EQ(lines.size(), 2u);
  const json::Object &load = *lines[0].getAsObject();
  EXPECT_EQ(load.getInteger("line"), 21);
  EXPECT_EQ(load.getString("source"), StringRef("k.mlir:12"));
  EXPECT_EQ(load.getString("instruction"),
            StringRef("ld.global.b32 %r1, [%rd1+4]"));
  EXPECT_EQ(load.getString("class"), StringRef("load-global"));
  EXPECT_EQ(load.getInteger("divergent"), 7);
  EXPECT_DOUBLE_EQ(load.getNumber("efficiency").value_or(0), 0.8);
  const json::Object &second = *lines[1].getAsObject();
  EXPECT_EQ(second.get("source"), nullptr);
  EXPECT_EQ(second.getInteger("bank-conflicts"), 40);
  EXPECT_EQ(second.get("efficiency")->kind(), json::Value::Null);
}

TEST(StatisticsTest, JsonHasLinesOnlyWhereAskedFor) {
  EXPECT_EQ(parse(getExample(), false).get("lines"), nullptr);
  EXPECT_TRUE(parse(Statistics(), true).getArray("lines")->empty());
}

std::string print(const Statistics &statistics, bool perLine) {
  std::string text;
  raw_string_ostream os(text);
  statistics.print(os, perLine);
  return text;
}

TEST(StatisticsTest, TheTableIsAligned) {
  EXPECT_EQ(print(getExample(), /*perLine=*/true),
            R"(Launch: 4 blocks, 16 warps
Instructions: 2,000 issued by warps, 49,484 by threads; 90 to 12,345 per warp; 7 divergent

  class        issued  share  threads
  integer       1,000  50.0%   31,000
  mma              64   3.2%    2,048
  load-global     500  25.0%   16,000
  other           436  21.8%      436

  tensor-core instruction                              issued
  mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32      64

  global memory   bytes  sectors  efficiency
  loads          64,000    2,500       80.0%
  stores              0        0           -

Shared memory: 4,096 bytes loaded, 2,048 bytes stored, 100 wavefronts, of which 40 are bank conflicts
Async copies: 3 of 48 bytes in all
Barriers: 11

Per instruction:
  line  issued  threads  divergent   bytes  sectors  efficiency  wavefronts  conflicts  source     instruction
    21     500   16,000          7  64,000    2,500       80.0%           -          -  k.mlir:12  ld.global.b32 %r1, [%rd1+4]
    22      32    1,024          -   4,096        -           -         100         40             ld.shared.b32 %r2, [%r3]
)");
}

TEST(StatisticsTest, NothingExecutedIsNoDivision) {
  EXPECT_EQ(print(Statistics(), /*perLine=*/false),
            R"(Launch: 0 blocks, 0 warps
Instructions: 0 issued by warps, 0 by threads; 0 to 0 per warp; 0 divergent

  global memory  bytes  sectors  efficiency
  loads              0        0           -
  stores             0        0           -

Shared memory: 0 bytes loaded, 0 bytes stored, 0 wavefronts, of which 0 are bank conflicts
Async copies: 0 of 0 bytes in all
Barriers: 0
)");
}

} // namespace
