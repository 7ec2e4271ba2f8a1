//===- TensorMovesTest.cpp - tcgen05.ld, st, cp and alloc -----------------===//

#include "TensorMemoryHarness.h"

using namespace tile::emulator;

namespace {

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

struct Shape {
  const char *name;
  unsigned perNumber; ///< Registers at .x1.
  unsigned most;      ///< The largest number.
  unsigned lanes;
  unsigned columns; ///< At .x1.
};
const Shape kShapes[] = {{"32x32b", 1, 128, 32, 1},
                         {"16x64b", 1, 128, 16, 2},
                         {"16x128b", 2, 64, 16, 4},
                         {"16x256b", 4, 32, 16, 8},
                         {"16x32bx2", 1, 128, 16, 1}};

/// The place of register `r` of `lane`, by the shape of the whole: the row and
/// the word of a matrix whose rows of words go to the lanes in turn. Where
/// several registers hold one row, they are of columns far apart.
std::pair<unsigned, unsigned> getPlace(const Shape &shape, unsigned lane,
                                       unsigned r) {
  llvm::StringRef name = shape.name;
  if (name == "32x32b")
    return {lane, r};
  if (name == "16x32bx2")
    return {lane % 16, r};
  // A repetition is 16 rows of `columns` words. Its 8 upper rows come first:
  // four lanes have a row, of neighbouring words each.
  unsigned repetition = r / shape.perNumber, i = r % shape.perNumber;
  if (name == "16x64b")
    // Two rows of four lanes: the lower one for the odd lanes.
    return {lane / 4 + (lane & 1 ? 8 : 0), repetition * 2 + (lane & 2 ? 1 : 0)};
  if (name == "16x128b")
    return {lane / 4 + (i ? 8 : 0), repetition * 4 + lane % 4};
  return {lane / 4 + (i >= 2 ? 8 : 0), repetition * 8 + lane % 4 * 2 + (i & 1)};
}

/// Registers go through tensor memory in one shape and come back as 32x32b, or
/// the other way round.
void checkMove(const Shape &shape, unsigned number, bool isStore,
               bool isPacked) {
  SCOPED_TRACE(std::string(isStore ? "st." : "ld.") + shape.name + ".x" +
               std::to_string(number) + (isPacked ? " packed" : ""));
  const bool isSplit = llvm::StringRef(shape.name) == "16x32bx2";
  unsigned registers = shape.perNumber * number;
  unsigned columns = shape.columns * number * (isPacked ? 2 : 1);
  if (columns > kTestColumns / (isSplit ? 2 : 1))
    return;
  // Away from column 0, and in the upper lanes where there are two halves.
  unsigned first = columns < 200 ? 40 : 0, split = isSplit ? columns + 3 : 0;
  unsigned upper = shape.lanes == 16 ? 16 : 0;
  if (first + columns + split > kTestColumns)
    first = 0, split = columns;
  std::string list = makeRegisterList(0, registers);
  std::string name = std::string(shape.name) + ".x" + std::to_string(number);
  std::string at =
      "and.b32 %c, %t, 96; shl.b32 %c, %c, 16; add.u32 %c, %c, %tm;\n"
      "add.u32 %c, %c, " +
      hex(upper << 16 | first) + ";\n";
  std::string own = "mul.wide.u32 %g, %t, 512; add.s64 %g, %g, %p0;\n";
  std::string extra = isSplit ? ", " + std::to_string(split) : "";
  std::string body = at + own;
  TensorImage tensor;
  tensor.fill(number * 2 + isStore);
  TensorImage before = tensor;
  std::vector<uint8_t> values = makeBytes(128 * 512, number + 77);
  for (unsigned r = 0; r != registers; ++r) {
    std::string reg = "%u" + std::to_string(r);
    if (isStore)
      body +=
          "ld.global.b32 " + reg + ", [%g+" + std::to_string(4 * r) + "];\n";
  }
  if (isStore)
    body += "tcgen05.st.sync.aligned." + name +
            (isPacked ? ".unpack::16b" : "") + ".b32 [%c]" + extra + ", " +
            list + ";\ntcgen05.wait::st.sync.aligned;\n";
  else
    body += "tcgen05.ld.sync.aligned." + name + (isPacked ? ".pack::16b" : "") +
            ".b32 " + list + ", [%c]" + extra +
            ";\ntcgen05.wait::ld.sync.aligned;\n";
  if (!isStore)
    for (unsigned r = 0; r != registers; ++r)
      body += "st.global.b32 [%g+" + std::to_string(4 * r) + "], %u" +
              std::to_string(r) + ";\n";
  std::vector<uint8_t> in = toBytes(tensor.words), out = in;
  // What is unpacked leaves the upper halves of its words unwritten.
  uint32_t mask = isStore && isPacked ? 0xFFFF : ~0u;
  EXPECT_FINE(runKernel(
      beginTensorKernel() + moveTensor(true, "%p1", "INIT", 0, kTestColumns) +
          "tcgen05.wait::st.sync.aligned;\n" + body +
          moveTensor(false, "%p2", "STORE", 0, kTestColumns, mask) +
          endTensorKernel(),
      {&values, &in, &out}, getTensorOptions()));
  tensor.words = fromBytes<uint32_t>(out);
  std::vector<uint32_t> held = fromBytes<uint32_t>(values);
  TensorImage expected = before;
  for (unsigned thread = 0; thread != 128; ++thread)
    for (unsigned r = 0; r != registers; ++r) {
      auto [row, column] = getPlace(shape, thread % 32, r);
      unsigned lane = thread / 32 * 32 + upper + row;
      unsigned begin = first + (thread % 32 >= 16 ? split : 0);
      uint32_t value = held[thread * 128 + r];
      if (isPacked) {
        uint32_t &low = expected.at(lane, begin + 2 * column);
        uint32_t &high = expected.at(lane, begin + 2 * column + 1);
        if (isStore) {
          low = value & 0xFFFF;
          high = value >> 16;
        } else {
          ASSERT_EQ(value, (low & 0xFFFF) | high << 16);
        }
      } else if (isStore) {
        expected.at(lane, begin + column) = value;
      } else {
        ASSERT_EQ(value, expected.at(lane, begin + column))
            << thread << " " << r;
      }
    }
  for (uint32_t &word : expected.words)
    word &= mask;
  EXPECT_EQ(tensor.words, expected.words);
}

TEST(TensorMovesTest, EveryShapeAndNumber) {
  for (const Shape &shape : kShapes)
    for (unsigned number = 1; number <= shape.most; number *= 2)
      for (bool isStore : {false, true})
        for (bool isPacked : {false, true})
          checkMove(shape, number, isStore, isPacked);
}

TEST(TensorMovesTest, WarpsTouchTheirQuadrants) {
  TensorImage tensor;
  auto run = [&](const std::string &body) {
    return runTensor(body, {}, tensor);
  };
  const std::string second = "setp.eq.u32 %z4, %w, 1;\nadd.u32 %u1, %tm, ";
  for (const char *lane : {"0", "0x400000", "0x100000", "0x300000"})
    expectCheck(run(second + lane +
                    ";\n@%z4 tcgen05.ld.sync.aligned.32x32b.x1.b32 {%u0}, "
                    "[%u1];\n@%z4 tcgen05.wait::ld.sync.aligned;\n"),
                Check::OutOfBounds, "lanes of the 32 to 63 that warp 1");
  expectCheck(run(second +
                  "0x280000;\n@%z4 tcgen05.ld.sync.aligned.16x64b.x1.b32 "
                  "{%u0}, [%u1];\n"),
              Check::OutOfBounds, "a multiple of 16");
  EXPECT_FINE(run(second +
                  "0x300000;\n@%z4 tcgen05.ld.sync.aligned.16x64b.x1.b32 "
                  "{%u0}, [%u1];\n@%z4 tcgen05.wait::ld.sync.aligned;\n"));
  // Columns end.
  expectCheck(run("add.u32 %u1, %tm, 511;\nsetp.eq.u32 %z4, %w, 0;\n@%z4 "
                  "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%u0, %u2}, [%u1];\n"),
              Check::OutOfBounds, "columns below 512");
  // One address for all lanes.
  expectCheck(run("add.u32 %u1, %tm, %l;\nsetp.eq.u32 %z4, %w, 0;\n@%z4 "
                  "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%u0, %u2}, [%u1];\n"),
              Check::IllegalOperand, "the same address in tensor memory");
  expectCheck(run("setp.eq.u32 %z4, %t, 1;\n@%z4 "
                  "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%u0, %u2}, [%tm];\n"),
              Check::Divergence);
}

TEST(TensorMovesTest, UnwrittenBitsStayUnwritten) {
  TensorImage tensor;
  tensor.fill(3);
  // Columns from 32 on are never written.
  expectCheck(runTensor("", {}, tensor, getTensorOptions(), ~0u, 32, 64),
              Check::Uninitialized);
  EXPECT_FINE(runTensor("", {}, tensor, getTensorOptions(), ~0u, 32, 32));
  // A register's unwritten bits go there and come back.
  const std::string half =
      ".reg .b16 %none; .reg .b32 %mixed;\nmov.b32 %mixed, {%h0, %none};\n"
      "setp.eq.u32 %z4, %w, 0;\nmov.u16 %h0, 7;\nmov.b32 %mixed, {%h0, %none};"
      "\n@%z4 tcgen05.st.sync.aligned.32x32b.x1.b32 [%tm], {%mixed};\n"
      "tcgen05.wait::st.sync.aligned;\n";
  expectCheck(runTensor(half, {}, tensor), Check::Uninitialized);
  EXPECT_FINE(runTensor(half, {}, tensor, getTensorOptions(), 0xFFFF));
  // A new allocation has no values of an old one.
  std::vector<uint8_t> out(1024);
  const std::string again =
      beginTensorKernel() +
      "@%z0 tcgen05.st.sync.aligned.32x32b.x1.b32 [%tm], {%t};\n"
      "tcgen05.wait::st.sync.aligned;\n"
      "@%z0 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %tm, 512;\n"
      "@%z0 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base], "
      "512;\n";
  const std::string look =
      "@%z0 tcgen05.ld.sync.aligned.32x32b.x1.b32 {%u0}, [%tm];\n"
      "tcgen05.wait::ld.sync.aligned;\n@%z0 st.global.b32 [%t4], %u0;\n";
  expectCheck(
      runKernel(again + look + endTensorKernel(), {&out}, getTensorOptions()),
      Check::Uninitialized);
  EXPECT_FINE(
      runKernel(again +
                    "@%z0 tcgen05.st.sync.aligned.32x32b.x1.b32 [%tm], {%t};\n"
                    "tcgen05.wait::st.sync.aligned;\n" +
                    look + endTensorKernel(),
                {&out}, getTensorOptions()));
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

struct Copy {
  const char *name;
  unsigned rows, words;
  /// The row that a lane gets, or -1.
  int (*getRow)(unsigned lane);
};
const Copy kCopies[] = {
    {"128x256b", 128, 8, [](unsigned lane) { return int(lane); }},
    {"128x128b", 128, 4, [](unsigned lane) { return int(lane); }},
    {"4x256b", 4, 8,
     [](unsigned lane) { return lane % 32 == 31 ? int(lane / 32) : -1; }},
    {"64x128b.warpx2::02_13", 64, 4,
     [](unsigned lane) { return int(lane % 64); }},
    {"64x128b.warpx2::01_23", 64, 4,
     [](unsigned lane) { return int(lane / 64 * 32 + lane % 32); }},
    {"32x128b.warpx4", 32, 4, [](unsigned lane) { return int(lane % 32); }},
};

TEST(TensorMovesTest, EveryCopy) {
  std::vector<uint8_t> image = makeBytes(kTestShared, 8);
  std::vector<uint32_t> words = fromBytes<uint32_t>(image);
  for (const Copy &copy : kCopies)
    for (unsigned swizzle : {0u, 6u, 4u, 2u, 1u}) {
      SCOPED_TRACE(copy.name + (" swizzle " + std::to_string(swizzle)));
      unsigned span = swizzle == 6 ? 32 : swizzle == 4 ? 64 : 128;
      unsigned stride = swizzle ? 8 * span : 272, leading = 128;
      std::string address = "add.s64 %da, %sd, " +
                            hex(uint64_t(swizzle) << 61 | uint64_t(1) << 46 |
                                uint64_t(stride / 16) << 32 |
                                uint64_t(leading / 16) << 16 | 4096 / 16) +
                            ";\nadd.u32 %u40, %tm, " +
                            (copy.rows == 4 ? "0x1f0065" : "0x65") + ";\n";
      TensorImage tensor;
      tensor.fill(9);
      TensorImage expected = tensor;
      for (unsigned lane = 0; lane != kTestLanes; ++lane) {
        int row = copy.getRow(lane);
        if (row < 0)
          continue;
        for (unsigned i = 0; i != copy.words; ++i) {
          unsigned group = row / 8, line = row % 8, unit = i / 4;
          unsigned byte = 4096 + group * stride;
          if (swizzle == 0) {
            byte += line * 16 + unit * leading;
          } else {
            unsigned moved = swizzle == 6   ? unit ^ line / 4
                             : swizzle == 4 ? unit ^ line / 2
                             : swizzle == 2 ? unit ^ line
                                            : unit + 2 * (line % 4);
            byte += line * span + moved * 16;
          }
          expected.at(lane, 0x65 + i) = words[byte / 4 + i % 4];
        }
      }
      EXPECT_FINE(runTensor(address + "@%one tcgen05.cp.cta_group::1." +
                                copy.name + " [%u40], %da;\n",
                            image, tensor));
      EXPECT_EQ(tensor.words, expected.words);
    }
}

//===----------------------------------------------------------------------===//
// Allocation
//===----------------------------------------------------------------------===//

Outcome allocate(const std::string &body, std::vector<uint8_t> &out,
                 unsigned threads = 32) {
  return runKernel(".shared .b32 base; .reg .b32 %x;\n" + body, {&out},
                   withThreads(threads));
}
std::string alloc(const std::string &columns) {
  return "tcgen05.alloc.cta_group::1.sync.aligned.b32 [%d20], " + columns +
         ";\nld.shared.b32 %x, [base];\n";
}
std::string dealloc(const std::string &address, const std::string &columns) {
  return "tcgen05.dealloc.cta_group::1.sync.aligned.b32 " + address + ", " +
         columns + ";\n";
}

TEST(TensorMovesTest, Allocation) {
  std::vector<uint8_t> out(512);
  const std::string generic =
      "mov.u64 %d20, base; cvta.shared.u64 %d20, %d20;\n";
  auto run = [&](const std::string &body, unsigned threads = 32) {
    return allocate(generic + body, out, threads);
  };
  const std::string relinquish =
      "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n";
  EXPECT_FINE(run(alloc("256") + "mov.u32 %r1, %x;\n" + alloc("128") +
                  "mov.u32 %r2, %x;\n" + alloc("128") + "mov.u32 %r3, %x;\n" +
                  dealloc("%r2", "128") + alloc("32") + "mov.u32 %r4, %x;\n" +
                  relinquish + dealloc("%r3", "128") + dealloc("%r1", "256") +
                  dealloc("%r4", "32") +
                  "st.global.v4.b32 [%t16], {%r1, %r2, %r3, %r4};\n"));
  std::vector<uint32_t> bases = fromBytes<uint32_t>(out);
  EXPECT_EQ(bases[0], 0u);
  EXPECT_EQ(bases[1], 256u);
  EXPECT_EQ(bases[2], 384u);
  EXPECT_EQ(bases[3], 256u);

  for (const char *columns : {"0", "16", "33", "96", "1024"})
    expectCheck(run(alloc(columns)), Check::IllegalOperand,
                "a power of two from 32 to 512");
  expectCheck(run(alloc("32") + alloc("64")), Check::IllegalOperand,
              "no more columns than the allocation before it, which had 32");
  expectCheck(run(alloc("512") + alloc("32")), Check::Deadlock,
              "0 of 512 are free");
  expectCheck(run(alloc("256") + alloc("256") + alloc("256")), Check::Deadlock);
  expectCheck(run(relinquish + alloc("32")), Check::Synchronization,
              "relinquish_alloc_permit");
  expectCheck(run(alloc("64")), Check::Synchronization,
              "without tcgen05.dealloc of the 64 columns from 0 on");
  expectCheck(run(alloc("64") + dealloc("%x", "32")), Check::IllegalOperand,
              "the 64 columns of the allocation");
  expectCheck(run(alloc("64") + "add.u32 %x, %x, 32;\n" + dealloc("%x", "32")),
              Check::IllegalOperand, "the address of an allocation");
  expectCheck(run(alloc("64") + dealloc("%x", "64") + dealloc("%x", "64")),
              Check::IllegalOperand);
  expectCheck(run("add.u32 %r1, %t, 32;\n" + alloc("%r1")),
              Check::IllegalOperand, "the same number of columns");
  expectCheck(run("setp.lt.u32 %q1, %t, 5;\n@%q1 " + alloc("32")),
              Check::Divergence);
  // Another warp may give back, and the base has to be published.
  const std::string first =
      "setp.eq.u32 %q1, %w, 0;\n@%q1 tcgen05.alloc.cta_group::1.sync.aligned."
      "shared::cta.b32 [base], 64;\n";
  const std::string second =
      "ld.shared.b32 %x, [base];\n@!%q1 tcgen05.dealloc.cta_group::1.sync."
      "aligned.b32 %x, 64;\n";
  EXPECT_FINE(run(first + "bar.sync 0;\n" + second, 64));
  expectCheck(run(first + second, 64), Check::SharedRace);
  // Loads and stores need an allocation that they lie in.
  const std::string move =
      "tcgen05.st.sync.aligned.32x32b.x4.b32 [%x], {%t, %t, %t, %t};\n"
      "tcgen05.wait::st.sync.aligned;\n";
  EXPECT_FINE(
      run(alloc("32") + "add.u32 %x, %x, 28;\n" + move + dealloc("0", "32")));
  expectCheck(run(alloc("32") + "add.u32 %x, %x, 29;\n" + move),
              Check::OutOfBounds, "column 32 of tensor memory");
  expectCheck(run("mov.u32 %x, 0;\n" + move), Check::OutOfBounds);
}

TEST(TensorMovesTest, Statistics) {
  TensorImage tensor;
  LaunchOptions options = getTensorOptions();
  options.collectStatistics = true;
  Outcome outcome = runTensor(
      "add.s64 %da, %sd, 0x400800000000;\n@%one tcgen05.cp.cta_group::1."
      "32x128b.warpx4 [%tm], %da;\n",
      {}, tensor, options);
  EXPECT_FINE(outcome);
  const Counters &total = outcome.statistics.total;
  EXPECT_EQ(total.tensorLoadBytes, 128u * 512 * 4);
  EXPECT_EQ(total.tensorStoreBytes, 128u * 512 * 4 + 128 * 16);
  EXPECT_EQ(total.issued[unsigned(InstructionClass::LoadTensor)], 4u * 16);
  EXPECT_EQ(total.issued[unsigned(InstructionClass::StoreTensor)], 4u * 16 + 1);
}

} // namespace
