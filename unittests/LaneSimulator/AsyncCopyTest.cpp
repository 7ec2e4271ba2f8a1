//===- AsyncCopyTest.cpp - cp.async of the simulator ----------------------===//

#include "Harness.h"

using namespace tile;
using namespace tile::test;

namespace {

const std::string declarations =
    "declare void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3), "
    "ptr addrspace(1))\n"
    "declare void @llvm.nvvm.cp.async.ca.shared.global.8(ptr addrspace(3), "
    "ptr addrspace(1))\n"
    "declare void @llvm.nvvm.cp.async.ca.shared.global.16(ptr addrspace(3), "
    "ptr addrspace(1))\n"
    "declare void @llvm.nvvm.cp.async.cg.shared.global.16(ptr addrspace(3), "
    "ptr addrspace(1))\n"
    "declare void @llvm.nvvm.cp.async.ca.shared.global.4.s(ptr addrspace(3), "
    "ptr addrspace(1), i32)\n"
    "declare void @llvm.nvvm.cp.async.ca.shared.global.8.s(ptr addrspace(3), "
    "ptr addrspace(1), i32)\n"
    "declare void @llvm.nvvm.cp.async.ca.shared.global.16.s(ptr addrspace(3), "
    "ptr addrspace(1), i32)\n"
    "declare void @llvm.nvvm.cp.async.cg.shared.global.16.s(ptr addrspace(3), "
    "ptr addrspace(1), i32)\n"
    "declare void @llvm.nvvm.cp.async.commit.group()\n"
    "declare void @llvm.nvvm.cp.async.wait.group(i32)\n"
    "declare void @llvm.nvvm.cp.async.wait.all()\n"
    "declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)\n";

const std::string commit = "  call void @llvm.nvvm.cp.async.commit.group()\n";
const std::string waitAll = "  call void @llvm.nvvm.cp.async.wait.all()\n";
const std::string syncAll =
    "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n";

std::string getWait(unsigned groups) {
  return "  call void @llvm.nvvm.cp.async.wait.group(i32 " +
         std::to_string(groups) + ")\n";
}

std::string getCopy(const std::string &form, const std::string &to,
                    const std::string &from,
                    const std::string &sourceSize = "") {
  bool hasSize = !sourceSize.empty();
  return "  call void @llvm.nvvm.cp.async." + form.substr(0, 2) +
         ".shared.global." + form.substr(3) + (hasSize ? ".s" : "") +
         "(ptr addrspace(3) " + to + ", ptr addrspace(1) " + from +
         (hasSize ? ", i32 " + sourceSize : "") + ")\n";
}

std::vector<uint8_t> getBytes(size_t count) {
  std::vector<uint8_t> bytes(count);
  for (size_t i = 0; i < count; ++i)
    bytes[i] = hash(i, 17);
  return bytes;
}

/// The forms, each with its size.
const std::pair<const char *, unsigned> forms[] = {
    {"ca.4", 4}, {"ca.8", 8}, {"ca.16", 16}, {"cg.16", 16}};

TEST(LaneSimulatorAsyncCopy, CopiesEverySize) {
  for (auto [form, size] : forms)
    for (uint64_t seed : {0, 3}) {
      SCOPED_TRACE(form);
      std::string type = "[" + std::to_string(size) + " x i8]";
      std::string vector = "<" + std::to_string(size / 4) + " x i32>";
      std::string align = ", align " + std::to_string(size) + "\n";
      // Slot t xor 21 is filled by thread t and read by thread t xor 35.
      std::string text = getKernel(
          type, type,
          "  %u = xor i32 %t, 21\n"
          "  %s = getelementptr " +
              type + ", ptr addrspace(3) @smem, i32 %u\n" +
              getCopy(form, "%s", "%pi") + commit + getWait(0) + syncAll +
              "  %w = xor i32 %u, 35\n"
              "  %q = getelementptr " +
              type + ", ptr addrspace(3) @smem, i32 %w\n  %v = load " + vector +
              ", ptr addrspace(3) %q" + align + "  store " + vector +
              " %v, ptr addrspace(1) %po" + align,
          declarations);
      std::vector<uint8_t> in = getBytes(64 * size), out(64 * size);
      LaneOptions options;
      options.scheduleSeed = seed;
      ASSERT_EQ(run(text, in, out, 64, 64 * size, options).message, "");
      for (unsigned i = 0; i < out.size(); ++i)
        EXPECT_EQ(out[i], in[(i / size ^ 35) * size + i % size]);
    }
}

TEST(LaneSimulatorAsyncCopy, FillsWithZeros) {
  for (auto [form, size] : forms) {
    SCOPED_TRACE(form);
    std::string type = "[" + std::to_string(size) + " x i8]";
    std::string vector = "<" + std::to_string(size / 4) + " x i32>";
    std::string align = ", align " + std::to_string(size) + "\n";
    // Thread t copies t % (size + 1) bytes. The buffer ends behind the last
    // byte that is read: the last threads copy none, from far outside.
    unsigned threads = size + 1;
    std::string text = getKernel(
        type, type,
        "  %n0 = add i32 %t, 1\n"
        "  %n = urem i32 %n0, " +
            std::to_string(size + 1) +
            "\n"
            "  %s = getelementptr " +
            type + ", ptr addrspace(3) @smem, i32 %t\n" +
            // What was there before must go.
            "  store i32 -1431655766, ptr addrspace(3) %s\n" +
            "  %none = icmp eq i32 %n, 0\n"
            "  %far = getelementptr i8, ptr addrspace(1) %pi, i64 1048576\n"
            "  %from = select i1 %none, ptr addrspace(1) %far, ptr "
            "addrspace(1) %pi\n" +
            getCopy(form, "%s", "%from", "%n") + waitAll + "  %v = load " +
            vector + ", ptr addrspace(3) %s" + align + "  store " + vector +
            " %v, ptr addrspace(1) %po" + align,
        declarations);
    std::vector<uint8_t> in = getBytes(size * size), out(threads * size, 0x55);
    ASSERT_EQ(run(text, in, out, threads, threads * size).message, "");
    for (unsigned i = 0; i < out.size(); ++i) {
      unsigned copied = (i / size + 1) % (size + 1);
      EXPECT_EQ(out[i], i % size < copied ? in[i] : 0);
    }
  }
}

/// One thread makes three groups, of one, two and one copies of 4 bytes, waits
/// until `groups` are left and reads the copy `read`.
Outcome runGroups(unsigned groups, unsigned read, uint32_t &value,
                  const LaneOptions &options = {}) {
  std::string body;
  for (unsigned i = 0; i < 4; ++i) {
    std::string n = std::to_string(i);
    body += "  %s" + n + " = getelementptr i32, ptr addrspace(3) @smem, i32 " +
            n + "\n  %g" + n +
            " = getelementptr i32, ptr addrspace(1) %in, i32 " + n + "\n" +
            "  store i32 7, ptr addrspace(3) %s" + n + "\n" +
            getCopy("ca.4", "%s" + n, "%g" + n);
    if (i != 1)
      body += commit;
  }
  body += getWait(groups) + "  %v = load i32, ptr addrspace(3) %s" +
          std::to_string(read) + "\n  store i32 %v, ptr addrspace(1) %out\n";
  std::vector<uint8_t> in = getBytes(16);
  std::vector<uint32_t> out(1);
  Outcome outcome =
      run(getKernel("i32", "i32", body, declarations), in, out, 1, 16, options);
  value = out[0];
  return outcome;
}

TEST(LaneSimulatorAsyncCopy, GroupsArriveInOrder) {
  std::vector<uint8_t> in = getBytes(16);
  LaneOptions unchecked;
  unchecked.checkRaces = false;
  for (unsigned groups = 0; groups <= 4; ++groups)
    for (unsigned read = 0; read < 4; ++read) {
      SCOPED_TRACE(std::to_string(groups) + " groups, copy " +
                   std::to_string(read));
      unsigned group = (read + 1) / 2;
      uint32_t value;
      std::string message = runGroups(groups, read, value).message;
      bool hasArrived = group + groups < 3;
      uint32_t expected = hasArrived ? in[4 * read] | in[4 * read + 1] << 8 |
                                           in[4 * read + 2] << 16 |
                                           uint32_t(in[4 * read + 3]) << 24
                                     : 0xFFFFFFFF;
      if (hasArrived) {
        EXPECT_EQ(message, "");
        EXPECT_EQ(value, expected);
      } else {
        EXPECT_TRUE(contains(
            message,
            "load by thread 0 of block (0,0,0) at offset " +
                std::to_string(4 * read) +
                " of shared memory comes before thread 0 has waited for its "
                "asynchronous copy to there\n  in k: %v = load i32"));
      }
      // Without the check, neither the old nor the new bytes are there.
      ASSERT_EQ(runGroups(groups, read, value, unchecked).message, "");
      EXPECT_EQ(value, expected);
    }
}

/// Runs `body` on `threads` threads over 16-byte elements; %s is element %t of
/// shared memory, %s1 element %t xor 1.
std::string getMessage(const std::string &body, unsigned threads = 32,
                       unsigned sharedBytes = 512, uint64_t seed = 0) {
  std::vector<uint8_t> in = getBytes(512), out(512);
  LaneOptions options;
  options.scheduleSeed = seed;
  return run(getKernel("[16 x i8]", "[16 x i8]",
                       "  %s = getelementptr [16 x i8], ptr addrspace(3) "
                       "@smem, i32 %t\n"
                       "  %t1 = xor i32 %t, 1\n"
                       "  %s1 = getelementptr [16 x i8], ptr addrspace(3) "
                       "@smem, i32 %t1\n" +
                           body,
                       declarations),
             in, out, threads, sharedBytes, options)
      .message;
}

const std::string readOwn = "  %own = load i32, ptr addrspace(3) %s\n";
const std::string readOther = "  %other = load i32, ptr addrspace(3) %s1\n";
const std::string copyOwn = getCopy("cg.16", "%s", "%pi");

TEST(LaneSimulatorAsyncCopy, EmptyGroupsCount) {
  EXPECT_EQ(getMessage(copyOwn + commit + commit + getWait(1) + readOwn), "");
  EXPECT_TRUE(
      contains(getMessage(commit + copyOwn + commit + getWait(1) + readOwn),
               "comes before thread 0 has waited for its asynchronous copy"));
}

TEST(LaneSimulatorAsyncCopy, OnlyWaitAllTakesCopiesOfNoGroup) {
  EXPECT_EQ(getMessage(copyOwn + waitAll + readOwn), "");
  EXPECT_TRUE(contains(getMessage(copyOwn + getWait(0) + readOwn),
                       "has waited for its asynchronous copy"));
}

TEST(LaneSimulatorAsyncCopy, OtherThreadsNeedABarrierAfterTheWait) {
  for (uint64_t seed : {0, 1, 2, 3}) {
    EXPECT_EQ(
        getMessage(copyOwn + waitAll + syncAll + readOther, 32, 512, seed), "");
    // A barrier before the wait is none, whoever comes first after it.
    EXPECT_NE(
        getMessage(copyOwn + syncAll + waitAll + readOther, 32, 512, seed), "");
    EXPECT_TRUE(
        contains(getMessage(copyOwn + syncAll + readOther, 32, 512, seed),
                 "has waited for its asynchronous copy"));
  }
  EXPECT_TRUE(
      contains(getMessage(copyOwn + waitAll + readOther), "is not ordered"));
  EXPECT_TRUE(contains(
      getMessage("  %first = icmp eq i32 %t, 0\n"
                 "  br i1 %first, label %copy, label %sync\ncopy:\n" +
                 copyOwn + "  br label %sync\nsync:\n" + syncAll +
                 "  br i1 %first, label %wait, label %read\nwait:\n" + waitAll +
                 "  br label %done\nread:\n" + readOther +
                 "  br label %done\ndone:\n"),
      "load by thread 1 of block (0,0,0) at offset 0 of shared memory is not "
      "ordered after the store by thread 0"));
  // The copy must not overtake those who still read what it replaces.
  EXPECT_TRUE(contains(getMessage(readOther +
                                  "  %last = icmp eq i32 %t, 31\n"
                                  "  br i1 %last, label %yes, label %no\n"
                                  "yes:\n" +
                                  copyOwn + "  br label %no\nno:\n"),
                       "store by thread 31 of block (0,0,0) at offset 496 of "
                       "shared memory is not ordered after the load by thread "
                       "30\n  in k: call void @llvm.nvvm.cp.async.cg"));
  EXPECT_EQ(getMessage(readOther + syncAll + copyOwn), "");
}

TEST(LaneSimulatorAsyncCopy, NothingElseMayTouchTheDestination) {
  EXPECT_TRUE(contains(
      getMessage(copyOwn +
                 "  %b = getelementptr i8, ptr addrspace(3) %s, i32 15\n"
                 "  %l = load i8, ptr addrspace(3) %b\n"),
      "load by thread 0 of block (0,0,0) at offset 15 of shared memory comes "
      "before thread 0 has waited"));
  EXPECT_TRUE(contains(
      getMessage(copyOwn + "  store i8 1, ptr addrspace(3) %s\n"),
      "store by thread 0 of block (0,0,0) at offset 0 of shared memory comes "
      "before thread 0 has waited"));
  EXPECT_TRUE(contains(
      getMessage(copyOwn + "  %x = atomicrmw add ptr addrspace(3) %s, i32 1 "
                           "monotonic\n"),
      "before thread 0 has waited"));
  EXPECT_TRUE(
      contains(getMessage(copyOwn + commit + getCopy("ca.4", "%s", "%pi", "0")),
               "before thread 0 has waited"));
  EXPECT_EQ(getMessage(copyOwn + waitAll + copyOwn + waitAll + readOwn), "");
}

TEST(LaneSimulatorAsyncCopy, TheSourceMustStay) {
  std::string first = "  store i32 %t, ptr addrspace(1) %po\n" +
                      getCopy("cg.16", "%s", "%po") + commit;
  std::string change = "  %n = add i32 %t, 1\n"
                       "  store i32 %n, ptr addrspace(1) %po\n";
  EXPECT_TRUE(contains(getMessage(first + change + getWait(0)),
                       "source of the asynchronous copy to offset 0 of shared "
                       "memory changed before the wait"));
  EXPECT_EQ(getMessage(first + getWait(0) + change), "");
}

TEST(LaneSimulatorAsyncCopy, ReportsBadAddresses) {
  std::string bytes = "  %d = getelementptr i8, ptr addrspace(3) %s, i32 4\n"
                      "  %f = getelementptr i8, ptr addrspace(1) %pi, i32 4\n";
  EXPECT_TRUE(contains(getMessage(bytes + getCopy("ca.8", "%d", "%pi")),
                       "not a multiple of the alignment 8"));
  EXPECT_TRUE(contains(getMessage(bytes + getCopy("ca.8", "%s", "%f")),
                       "is not a multiple of the size 8"));
  EXPECT_EQ(getMessage(bytes + getCopy("ca.4", "%d", "%f")), "");
  EXPECT_TRUE(contains(getMessage(copyOwn, 32, 500),
                       "store of 16 bytes by thread 31 of block (0,0,0) at "
                       "offset 496 of shared memory, which has 500 bytes"));
  // Both the input and the shared memory of 33 elements: the input is shorter.
  EXPECT_TRUE(contains(getMessage(copyOwn, 33, 33 * 16),
                       "load of 16 bytes by thread 32 of block (0,0,0) at "
                       "offset 512 of in, which has 512 bytes"));
  EXPECT_TRUE(contains(getMessage(getCopy("cg.16", "%s", "%pi", "17")),
                       "source size 17 of a copy of 16 bytes"));
  EXPECT_TRUE(
      contains(getMessage("  %sg = addrspacecast ptr addrspace(3) %s1 to ptr\n"
                          "  %g = addrspacecast ptr %sg to ptr addrspace(1)\n" +
                          getCopy("cg.16", "%s", "%g")),
               "source is in shared memory"));
  EXPECT_TRUE(
      contains(getMessage("  %sg = addrspacecast ptr addrspace(1) %pi to ptr\n"
                          "  %g = addrspacecast ptr %sg to ptr addrspace(3)\n" +
                          getCopy("cg.16", "%g", "%pi")),
               "is not in shared memory"));
}

TEST(LaneSimulatorAsyncCopy, RefusesOtherForms) {
  std::vector<uint32_t> in(32), out(32);
  for (const char *name :
       {"cg.shared.global.8", "ca.shared.global.2", "ca.shared.global.12",
        "mbarrier.arrive.shared", "bulk.wait.group"}) {
    std::string full = std::string("llvm.nvvm.cp.async.") + name;
    bool isCopy = full.find("shared.global") != std::string::npos;
    bool isWait = full.find("wait") != std::string::npos;
    std::string type = isWait   ? "i32"
                       : isCopy ? "ptr addrspace(3), ptr addrspace(1)"
                                : "ptr addrspace(3)";
    std::string arguments = isWait   ? "i32 0"
                            : isCopy ? "ptr addrspace(3) @smem, ptr "
                                       "addrspace(1) %in"
                                     : "ptr addrspace(3) @smem";
    EXPECT_TRUE(
        contains(run(getKernel("i32", "i32",
                               "  call void @" + full + "(" + arguments + ")\n",
                               "declare void @" + full + "(" + type + ")\n"),
                     in, out)
                     .message,
                 "intrinsic '" + full + "' cannot be simulated"));
  }
}

} // namespace
