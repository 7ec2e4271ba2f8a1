//===- MatrixMoveTest.cpp - ldmatrix and stmatrix of the simulator --------===//

#include "Harness.h"

using namespace tile;
using namespace tile::test;

namespace {

/// Words of shared memory in these tests: every lane fills twelve.
constexpr unsigned numWords = 12 * 32;
constexpr unsigned sharedBytes = 4 * numWords;

const char *syncAll =
    "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n";
const char *syncDeclaration =
    "declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)\n";

/// Where lane `lane` finds its row: rows stand apart and in no order.
unsigned getRowOffset(unsigned lane) { return (lane * 11 + 5) % 32 * 48; }

/// 16-bit elements of which no two are equal, for all of shared memory.
uint16_t getElement(unsigned index) { return index * 40503 + 12345; }

/// The input of the kernels: an offset for each lane, then the words.
std::vector<uint32_t> getInput(unsigned count) {
  std::vector<uint32_t> in;
  // Lanes whose address plays no part have one that nobody may access.
  for (unsigned lane = 0; lane < 32; ++lane)
    in.push_back(lane < 8 * count ? getRowOffset(lane) : 0x7FFFFF1);
  for (unsigned i = 0; i < numWords; ++i)
    in.push_back(getElement(2 * i) | getElement(2 * i + 1) << 16);
  return in;
}

/// `count` fields of a struct of words, as a type.
std::string getWordsType(unsigned count) {
  if (count == 1)
    return "i32";
  std::string type = "{i32";
  for (unsigned i = 1; i < count; ++i)
    type += ", i32";
  return type + "}";
}

/// Copies words 32 + 32i + t of %in to words 32i + t of shared memory.
std::string getFill() {
  std::string text;
  for (unsigned i = 0; i < numWords / 32; ++i) {
    std::string n = std::to_string(i);
    text += "  %fp" + n + " = getelementptr i32, ptr addrspace(1) %pi, i32 " +
            std::to_string(32 + 32 * i) + "\n  %fv" + n +
            " = load i32, ptr addrspace(1) %fp" + n + "\n  %ft" + n +
            " = add i32 %t, " + std::to_string(32 * i) + "\n  %fs" + n +
            " = getelementptr i32, ptr addrspace(3) @smem, i32 %ft" + n +
            "\n  store i32 %fv" + n + ", ptr addrspace(3) %fs" + n + "\n";
  }
  return text;
}

/// %a is the address of the lane's row.
std::string getAddress() {
  return "  %o = load i32, ptr addrspace(1) %pi\n"
         "  %a = getelementptr i8, ptr addrspace(3) @smem, i32 %o\n";
}

std::string getLoadName(unsigned count, bool isTransposed,
                        const char *space = "p3") {
  return getWordsType(count) + " @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x" +
         std::to_string(count) + (isTransposed ? ".trans" : "") + ".b16." +
         space;
}

std::string getLoadKernel(unsigned count, bool isTransposed,
                          const std::string &between = syncAll) {
  std::string name = getLoadName(count, isTransposed), type;
  std::string body = getFill() + between + getAddress() + "  %r = call " +
                     name + "(ptr addrspace(3) %a)\n";
  for (unsigned i = 0; i < count; ++i) {
    std::string n = std::to_string(i);
    if (count > 1)
      body += "  %r" + n + " = extractvalue " + getWordsType(count) + " %r, " +
              n + "\n";
    body += "  %q" + n + " = getelementptr i32, ptr addrspace(1) %po, i32 " +
            n + "\n  store i32 %r" + (count > 1 ? n : "") +
            ", ptr addrspace(1) %q" + n + "\n";
  }
  return getKernel("i32", "[" + std::to_string(count) + " x i32]", body,
                   std::string(syncDeclaration) +
                       "declare void @llvm.nvvm.bar.warp.sync(i32)\n"
                       "declare " +
                       name + "(ptr addrspace(3))\n");
}

/// Element (row, column) of matrix `matrix`, whose rows the lanes name.
uint16_t getMatrixElement(unsigned matrix, unsigned row, unsigned column) {
  return getElement(getRowOffset(8 * matrix + row) / 2 + column);
}

/// What register `matrix` of `lane` holds.
uint32_t getFragment(unsigned lane, unsigned matrix, bool isTransposed) {
  unsigned g = lane >> 2, t = lane & 3;
  return isTransposed ? getMatrixElement(matrix, 2 * t, g) |
                            getMatrixElement(matrix, 2 * t + 1, g) << 16
                      : getMatrixElement(matrix, g, 2 * t) |
                            getMatrixElement(matrix, g, 2 * t + 1) << 16;
}

TEST(LaneSimulatorMatrixMove, LoadsEveryForm) {
  for (unsigned count : {1, 2, 4})
    for (bool isTransposed : {false, true}) {
      SCOPED_TRACE(getLoadName(count, isTransposed));
      std::vector<uint32_t> in = getInput(count), out(32 * count);
      Outcome outcome =
          run(getLoadKernel(count, isTransposed), in, out, 32, sharedBytes);
      ASSERT_EQ(outcome.message, "");
      for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned i = 0; i < count; ++i)
          EXPECT_EQ(out[count * lane + i], getFragment(lane, i, isTransposed));
      // Once for the warp.
      std::string name = getLoadName(count, isTransposed);
      EXPECT_EQ(outcome.counts[name.substr(name.find('@') + 1)], 1u);
    }
}

TEST(LaneSimulatorMatrixMove, ExpandsFourBitValues) {
  for (unsigned count : {1, 2, 4}) {
    SCOPED_TRACE(count);
    std::string plain = ".m8n8.x" + std::to_string(count) + ".b16.p3";
    std::string expanding =
        ".m8n16.x" + std::to_string(count) + ".b8x16.b4x16_p64.p3";
    std::string kernel = getLoadKernel(count, /*isTransposed=*/false);
    for (size_t at = 0; (at = kernel.find(plain, at)) != std::string::npos;)
      kernel.replace(at, plain.size(), expanding);
    std::vector<uint32_t> in = getInput(count), out(32 * count);
    ASSERT_EQ(run(kernel, in, out, 32, sharedBytes).message, "");
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned i = 0; i < count; ++i) {
        // Four codes of the row's first eight bytes, each in a byte.
        uint16_t codes = getMatrixElement(i, lane >> 2, lane & 3);
        for (unsigned byte = 0; byte < 4; ++byte)
          EXPECT_EQ(out[count * lane + i] >> 8 * byte & 0xFF,
                    codes >> 4 * byte & 0xFu);
      }
  }
}

TEST(LaneSimulatorMatrixMove, StoresEveryForm) {
  for (unsigned count : {1, 2, 4})
    for (bool isTransposed : {false, true}) {
      std::string name = "void @llvm.nvvm.stmatrix.sync.aligned.m8n8.x" +
                         std::to_string(count) +
                         (isTransposed ? ".trans" : "") + ".b16.p3";
      SCOPED_TRACE(name);
      std::string body = getAddress(), arguments, types;
      for (unsigned i = 0; i < count; ++i) {
        std::string n = std::to_string(i);
        body += "  %p" + n +
                " = getelementptr i32, ptr addrspace(1) %pi, i32 " +
                std::to_string(32 + 32 * i) + "\n  %v" + n +
                " = load i32, ptr addrspace(1) %p" + n + "\n";
        arguments += ", i32 %v" + n;
        types += ", i32";
      }
      body += "  call " + name + "(ptr addrspace(3) %a" + arguments + ")\n" +
              syncAll;
      for (unsigned i = 0; i < numWords / 32; ++i) {
        std::string n = std::to_string(i);
        body +=
            "  %t" + n + " = add i32 %t, " + std::to_string(32 * i) + "\n  %s" +
            n + " = getelementptr i32, ptr addrspace(3) @smem, i32 %t" + n +
            "\n  %w" + n + " = load i32, ptr addrspace(3) %s" + n + "\n  %q" +
            n + " = getelementptr i32, ptr addrspace(1) %out, i32 %t" + n +
            "\n  store i32 %w" + n + ", ptr addrspace(1) %q" + n + "\n";
      }
      // Register i of every lane comes from words 32i, so that the matrices
      // that they make are those of `ldmatrix`.
      std::vector<uint32_t> in = getInput(count);
      in.resize(32);
      for (unsigned i = 0; i < count; ++i)
        for (unsigned lane = 0; lane < 32; ++lane)
          in.push_back(getFragment(lane, i, isTransposed));
      std::vector<uint32_t> out(numWords);
      ASSERT_EQ(run(getKernel("i32", "i32", body,
                              std::string(syncDeclaration) + "declare " + name +
                                  "(ptr addrspace(3)" + types + ")\n"),
                    in, out, 32, sharedBytes)
                    .message,
                "");
      std::vector<uint32_t> expected(numWords, 0xFFFFFFFF);
      for (unsigned row = 0; row < 8 * count; ++row)
        for (unsigned word = 0; word < 4; ++word)
          expected[getRowOffset(row) / 4 + word] =
              getMatrixElement(row / 8, row % 8, 2 * word) |
              getMatrixElement(row / 8, row % 8, 2 * word + 1) << 16;
      EXPECT_EQ(out, expected);
    }
}

TEST(LaneSimulatorMatrixMove, ReportsBadRows) {
  auto getMessage = [&](unsigned lane, uint32_t offset) {
    std::vector<uint32_t> in = getInput(2), out(64);
    in[lane] = offset;
    return run(getLoadKernel(2, false), in, out, 32, sharedBytes).message;
  };
  EXPECT_EQ(getMessage(16, 8), "");
  EXPECT_TRUE(contains(getMessage(15, 8), "load of 16 bytes by thread 15"));
  EXPECT_TRUE(
      contains(getMessage(15, 8), "not a multiple of the alignment 16"));
  EXPECT_TRUE(contains(getMessage(3, sharedBytes),
                       "load of 16 bytes by thread 3 of block (0,0,0) at "
                       "offset 1536 of shared memory, which has 1536 bytes"));
  EXPECT_EQ(getMessage(3, sharedBytes - 16), "");

  // A generic address may lie anywhere, but the instruction has no other.
  std::vector<uint32_t> in = getInput(1), out(32);
  std::string name = getLoadName(1, false, "p0");
  EXPECT_TRUE(contains(
      run(getKernel("i32", "i32",
                    "  %g = addrspacecast ptr addrspace(1) %in to ptr\n"
                    "  %r = call " +
                        name +
                        "(ptr %g)\n  store i32 %r, ptr addrspace(1) %po\n",
                    "declare " + name + "(ptr)\n"),
          in, out, 32, sharedBytes)
          .message,
      "of lane 0 is not in shared memory"));
}

TEST(LaneSimulatorMatrixMove, ReportsUnorderedRows) {
  std::vector<uint32_t> in = getInput(4), out(128);
  EXPECT_TRUE(contains(
      run(getLoadKernel(4, false, ""), in, out, 32, sharedBytes).message,
      "of shared memory is not ordered after the store by thread"));
  EXPECT_EQ(run(getLoadKernel(4, false,
                              "  call void @llvm.nvvm.bar.warp.sync(i32 -1)\n"),
                in, out, 32, sharedBytes)
                .message,
            "");
}

TEST(LaneSimulatorMatrixMove, NamesTheReceivingLaneAsTheReader) {
  // Every lane stores to the row that it names afterwards. That is no order for
  // the lanes that receive it.
  std::string name = getLoadName(4, false);
  std::vector<uint32_t> in = getInput(4), out(128);
  auto getText = [&](const std::string &before, const std::string &after) {
    return getKernel("i32", "i32",
                     getAddress() + before + "  %r = call " + name +
                         "(ptr addrspace(3) %a)\n" + after,
                     "declare " + name + "(ptr addrspace(3))\n");
  };
  std::string store = "  store i32 %t, ptr addrspace(3) %a\n";
  EXPECT_TRUE(contains(
      run(getText(store, ""), in, out, 32, sharedBytes).message,
      "load by thread 4 of block (0,0,0) at offset 768 of shared memory is not "
      "ordered after the store by thread 1"));
  EXPECT_TRUE(
      contains(run(getText("", store), in, out, 32, sharedBytes).message,
               "is not ordered after the load by thread 4"));
}

TEST(LaneSimulatorMatrixMove, NeedsTheWholeWarp) {
  std::vector<uint32_t> in = getInput(1), out(32);
  std::string name = getLoadName(1, false);
  std::string text =
      getKernel("i32", "i32",
                getAddress() +
                    "  %c = icmp ult i32 %t, 31\n"
                    "  br i1 %c, label %yes, label %no\nyes:\n  %r = call " +
                    name + "(ptr addrspace(3) %a)\n  br label %no\nno:\n",
                "declare " + name + "(ptr addrspace(3))\n");
  EXPECT_TRUE(contains(run(text, in, out, 32, sharedBytes).message,
                       "threads 0-30 wait at llvm.nvvm.ldmatrix"));
}

TEST(LaneSimulatorMatrixMove, RefusesOtherForms) {
  std::vector<uint32_t> in(32), out(32);
  for (const char *name :
       {"m8n8.x3.b16.p3", "m8n8.x1.b8.p3", "m8n16.x1.b8x16.b6x16_p32.p3",
        "m8n16.x3.b8x16.b4x16_p64.p3", "m16n16.x1.trans.b8.p3"}) {
    std::string full = std::string("llvm.nvvm.ldmatrix.sync.aligned.") + name;
    std::string type = name[1] == '1' ? "{i32, i32}" : "i32";
    EXPECT_TRUE(contains(
        run(getKernel("i32", "i32",
                      "  %r = call " + type + " @" + full +
                          "(ptr addrspace(3) @smem)\n",
                      "declare " + type + " @" + full + "(ptr addrspace(3))\n"),
            in, out)
            .message,
        "intrinsic '" + full + "' cannot be simulated"));
  }
}

} // namespace
