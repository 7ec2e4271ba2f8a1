//===- RandomKernelsTest.cpp - Random control flow against a reference ----===//
//
// Makes kernels of nested branches, loops, switches, calls, early exits and
// exchanges through shared memory and warps, and runs them with several host
// threads and orders of warps. Each must give what running the threads one by
// one in C++ gives, and the same statistics whatever the host threads.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"
#include "llvm/Support/raw_ostream.h"

#include <array>
#include <random>

using namespace tile::emulator;

namespace {

constexpr unsigned kRegisters = 6;

enum class Kind {
  Operation, ///< d = a op b, under a guard if `compare` is below 4.
  If,
  Loop,  ///< At most seven rounds, `compare` as in Break.
  Break, ///< Out of the loop around it.
  Continue,
  Switch,
  Call,
  Exit, ///< Ends the thread.
  // Between the statements of a phase only, where all threads come.
  Exchange, ///< Through shared memory, with barriers.
  Ballot,
  Shuffle,
  MaskedSum, ///< In a branch, by the lanes that take it.
};

struct Node {
  Kind kind = Kind::Operation;
  unsigned d = 0, a = 0, b = 0;
  unsigned operation = 0; ///< Or the comparison.
  uint32_t immediate = 0;
  bool isGuarded = false;
  std::vector<std::vector<Node>> bodies;
};
using Body = std::vector<Node>;

const char *const operations[] = {
    "add.u32", "sub.u32", "mul.lo.u32", "xor.b32",    "and.b32",
    "or.b32",  "min.s32", "max.u32",    "mul.hi.u32", "shf.l.wrap.b32"};
const char *const comparisons[] = {"lt.s32", "gt.u32", "eq.u32", "le.u32"};

uint32_t operate(unsigned operation, uint32_t a, uint32_t b) {
  switch (operation) {
  case 0:
    return a + b;
  case 1:
    return a - b;
  case 2:
    return a * b;
  case 3:
    return a ^ b;
  case 4:
    return a & b;
  case 5:
    return a | b;
  case 6:
    return static_cast<uint32_t>(
        std::min(static_cast<int32_t>(a), static_cast<int32_t>(b)));
  case 7:
    return std::max(a, b);
  case 8:
    return static_cast<uint32_t>(uint64_t(a) * b >> 32);
  default: // A rotation by b.
    return b % 32 ? a << b % 32 | a >> (32 - b % 32) : a;
  }
}

bool compare(unsigned comparison, uint32_t a, uint32_t b) {
  switch (comparison) {
  case 0:
    return static_cast<int32_t>(a) < static_cast<int32_t>(b);
  case 1:
    return a > b;
  case 2:
    return a == b;
  default:
    return a <= b;
  }
}

//===----------------------------------------------------------------------===//
// Making a kernel
//===----------------------------------------------------------------------===//

class Maker {
public:
  Maker(unsigned seed, unsigned threads) : random(seed), threads(threads) {
    mayExit = pick(2) == 0;
  }

  Body make() {
    Body top;
    for (unsigned phase = 0; phase != 4; ++phase) {
      Body body = makeBody(3, /*inLoop=*/false);
      top.insert(top.end(), body.begin(), body.end());
      Node node;
      fill(node);
      const Kind kinds[] = {Kind::Exchange, Kind::Ballot, Kind::MaskedSum,
                            Kind::Shuffle};
      // A shuffle reads lanes that must be there.
      node.kind = kinds[pick(mayExit || threads % 32 ? 3 : 4)];
      top.push_back(node);
    }
    return top;
  }

private:
  unsigned pick(unsigned count) {
    return static_cast<unsigned>(random() % count);
  }
  void fill(Node &node) {
    node.d = pick(kRegisters);
    node.a = pick(kRegisters);
    node.b = pick(kRegisters);
    node.operation = pick(4);
    node.immediate = static_cast<uint32_t>(random());
  }
  Body makeBody(unsigned depth, bool inLoop) {
    Body body;
    for (unsigned i = 0, count = 1 + pick(4); i != count; ++i)
      body.push_back(makeNode(depth, inLoop));
    return body;
  }
  Node makeNode(unsigned depth, bool inLoop) {
    Node node;
    fill(node);
    unsigned choice = pick(12);
    if (depth == 0 || choice < 4) {
      node.operation = pick(std::size(operations));
      node.isGuarded = pick(3) == 0;
    } else if (choice < 6) {
      node.kind = Kind::If;
      node.bodies.push_back(makeBody(depth - 1, inLoop));
      if (pick(2))
        node.bodies.push_back(makeBody(depth - 1, inLoop));
    } else if (choice < 8) {
      node.kind = Kind::Loop;
      node.bodies.push_back(makeBody(depth - 1, true));
    } else if (choice == 8) {
      node.kind = Kind::Switch;
      for (unsigned i = 0; i != 4; ++i)
        node.bodies.push_back(makeBody(depth - 1, inLoop));
    } else if (choice == 9) {
      node.kind = Kind::Call;
    } else if (choice == 10 && inLoop) {
      node.kind = pick(2) ? Kind::Break : Kind::Continue;
    } else if (choice == 11 && mayExit) {
      node.kind = Kind::Exit;
    }
    return node;
  }

  std::mt19937 random;
  unsigned threads;
  bool mayExit;
};

//===----------------------------------------------------------------------===//
// As PTX
//===----------------------------------------------------------------------===//

class Printer {
public:
  explicit Printer(unsigned threads) : threads(threads) {}

  std::string print(const Body &body) {
    printBody(body, "", "");
    return text + stores() + "exit;\n" + exits;
  }

private:
  /// The registers go to the thread's own part of the output.
  static std::string stores() {
    std::string code;
    for (unsigned i = 0; i != kRegisters; ++i)
      code +=
          "st.global.u32 [%o+" + std::to_string(4 * i) + "], " + reg(i) + ";\n";
    return code;
  }
  std::string label() { return "L" + std::to_string(numLabels++); }
  void line(const llvm::Twine &code) { text += (code + "\n").str(); }
  static std::string reg(unsigned i) { return "%r" + std::to_string(i); }
  void printCompare(const Node &node) {
    line(llvm::Twine("setp.") + comparisons[node.operation] + " %p, " +
         reg(node.a) + ", " + reg(node.b) + ";");
  }
  void printBody(const Body &body, const std::string &end,
                 const std::string &next) {
    for (const Node &node : body)
      printNode(node, end, next);
  }
  void printNode(const Node &node, const std::string &end,
                 const std::string &next);

  unsigned threads;
  unsigned numLabels = 0;
  std::string text, exits;
};

void Printer::printNode(const Node &node, const std::string &end,
                        const std::string &next) {
  const std::string d = reg(node.d), a = reg(node.a), b = reg(node.b);
  switch (node.kind) {
  case Kind::Operation: {
    std::string guard;
    if (node.isGuarded) {
      line("setp.lt.u32 %p, " + b + ", " + llvm::Twine(node.immediate) + ";");
      guard = "@!%p ";
    }
    bool isRotation = node.operation + 1 == std::size(operations);
    line(guard + operations[node.operation] + " " + d + ", " + a + ", " +
         (isRotation ? a + ", " : "") + b + ";");
    return;
  }
  case Kind::If: {
    std::string otherwise = label(), after = label();
    printCompare(node);
    line("@!%p bra " + otherwise + ";");
    printBody(node.bodies[0], end, next);
    line("bra " + after + ";");
    line(otherwise + ":");
    if (node.bodies.size() > 1)
      printBody(node.bodies[1], end, next);
    line(after + ":");
    return;
  }
  case Kind::Loop: {
    std::string top = label(), after = label();
    line("{ .reg .b32 %c;");
    line("and.b32 %c, " + a + ", 7;");
    line(top + ":");
    line("setp.eq.u32 %p, %c, 0; @%p bra " + after + "; sub.u32 %c, %c, 1;");
    printBody(node.bodies[0], after, top);
    line("bra " + top + ";");
    line(after + ": }");
    return;
  }
  case Kind::Break:
    printCompare(node);
    line("@%p bra " + end + ";");
    return;
  case Kind::Continue:
    printCompare(node);
    line("@%p bra " + next + ";");
    return;
  case Kind::Switch: {
    std::string list = label(), after = label(), cases[4];
    for (std::string &name : cases)
      name = label();
    line(list + ": .branchtargets " + cases[0] + ", " + cases[1] + ", " +
         cases[2] + ", " + cases[3] + ";");
    line("{ .reg .b32 %i; and.b32 %i, " + a + ", 3; brx.idx %i, " + list +
         "; }");
    for (unsigned i = 0; i != 4; ++i) {
      line(cases[i] + ":");
      printBody(node.bodies[i], end, next);
      line("bra " + after + ";");
    }
    line(after + ":");
    return;
  }
  case Kind::Call:
    line("call (" + d + "), f, (" + a + ", " + b + ");");
    return;
  case Kind::Exit:
    line("{ .reg .b32 %i; and.b32 %i, " + a + ", 31; setp.eq.u32 %p, %i, " +
         llvm::Twine(node.immediate % 32) + "; }");
    text += "@%p bra " + label() + ";\n";
    // No lane may wait here for others that are at a barrier.
    exits += "L" + std::to_string(numLabels - 1) + ":\n" + stores() + "exit;\n";
    return;
  case Kind::Exchange:
    line("st.shared.u32 [%own], " + a + "; bar.sync 0;");
    line("{ .reg .b32 %i; mad.lo.u32 %i, %t, " +
         llvm::Twine(node.immediate % 7) + ", 1; rem.u32 %i, %i, " +
         llvm::Twine(threads) + "; shl.b32 %i, %i, 2; add.u32 %i, %i, %s;");
    line("ld.shared.u32 " + d + ", [%i]; } bar.sync 0;");
    return;
  case Kind::Ballot:
    printCompare(node);
    line("vote.sync.ballot.b32 " + d + ", %p, -1;");
    return;
  case Kind::Shuffle:
    line("shfl.sync.bfly.b32 " + d + ", " + a + ", " +
         llvm::Twine(node.immediate % 32) + ", 31, -1;");
    return;
  case Kind::MaskedSum: {
    std::string after = label();
    printCompare(node);
    line("{ .reg .b32 %m; vote.sync.ballot.b32 %m, %p, -1;");
    line("@!%p bra " + after + ";");
    line("redux.sync.add.u32 " + d + ", " + a + ", %m;");
    line(after + ": }");
    return;
  }
  }
}

std::string printKernel(const Body &body, unsigned threads) {
  std::string head =
      ".version 8.8\n.target sm_90a\n.address_size 64\n"
      ".func (.param .b32 r) f(.param .b32 a, .param .b32 b)\n{\n"
      ".reg .b32 %a, %b, %n; .reg .pred %p;\n"
      "ld.param.b32 %a, [a]; ld.param.b32 %b, [b]; and.b32 %n, %a, 7;\n"
      "F: setp.eq.u32 %p, %n, 0; @%p bra G; sub.u32 %n, %n, 1;\n"
      "mad.lo.u32 %b, %b, 5, %a; setp.lt.s32 %p, %b, 0;\n"
      "st.param.b32 [r], %n; @%p ret; bra F;\n"
      "G: st.param.b32 [r], %b; ret;\n}\n"
      ".visible .entry k(.param .u64 out)\n{\n"
      ".reg .b32 %r<6>, %t, %s, %own, %x, %y; .reg .pred %p;\n"
      ".reg .b64 %o, %l; .shared .b32 s[1024];\n"
      "mov.u32 %t, %tid.x; mov.u32 %x, %ctaid.x; mov.u32 %y, %ntid.x;\n"
      "mov.u32 %s, s; mad.lo.u32 %own, %t, 4, %s; st.shared.u32 [%own], 99;\n"
      "bar.sync 0; mad.lo.u32 %x, %x, %y, %t;\n"
      "ld.param.u64 %o, [out]; mul.wide.u32 %l, %x, 24; add.u64 %o, %o, %l;\n";
  for (unsigned i = 0; i != kRegisters; ++i)
    head += "mad.lo.u32 %r" + std::to_string(i) + ", %x, " +
            std::to_string(2654435761u * (i + 1)) + ", " +
            std::to_string(40503u * i) + ";\n";
  return head + Printer(threads).print(body) + "}\n";
}

//===----------------------------------------------------------------------===//
// The reference
//===----------------------------------------------------------------------===//

struct Thread {
  std::array<uint32_t, kRegisters> registers;
  bool live = true;
};

uint32_t callee(uint32_t a, uint32_t b) {
  for (uint32_t n = a & 7; n != 0;) {
    --n;
    b = b * 5 + a;
    if (static_cast<int32_t>(b) < 0)
      return n;
  }
  return b;
}

enum class After { Next, Break, Continue, Exit };

After runBody(const Body &body, Thread &thread);

After runNode(const Node &node, Thread &thread) {
  auto &r = thread.registers;
  const uint32_t a = r[node.a], b = r[node.b];
  switch (node.kind) {
  case Kind::Operation:
    if (!node.isGuarded || b >= node.immediate)
      r[node.d] = operate(node.operation, a, b);
    return After::Next;
  case Kind::If:
    if (compare(node.operation, a, b))
      return runBody(node.bodies[0], thread);
    return node.bodies.size() > 1 ? runBody(node.bodies[1], thread)
                                  : After::Next;
  case Kind::Loop:
    for (uint32_t count = a & 7; count != 0; --count) {
      After after = runBody(node.bodies[0], thread);
      if (after == After::Exit)
        return after;
      if (after == After::Break)
        break;
    }
    return After::Next;
  case Kind::Break:
    return compare(node.operation, a, b) ? After::Break : After::Next;
  case Kind::Continue:
    return compare(node.operation, a, b) ? After::Continue : After::Next;
  case Kind::Switch:
    return runBody(node.bodies[a & 3], thread);
  case Kind::Call:
    r[node.d] = callee(a, b);
    return After::Next;
  case Kind::Exit:
    return (a & 31) == node.immediate % 32 ? After::Exit : After::Next;
  default:
    return After::Next;
  }
}

After runBody(const Body &body, Thread &thread) {
  for (const Node &node : body)
    if (After after = runNode(node, thread); after != After::Next)
      return after;
  return After::Next;
}

/// What all live threads do together.
void runTogether(const Node &node, std::vector<Thread> &block,
                 std::vector<uint32_t> &shared) {
  const std::vector<Thread> before = block;
  const unsigned count = static_cast<unsigned>(block.size());
  auto holds = [&](unsigned i) {
    const auto &r = before[i].registers;
    return before[i].live && compare(node.operation, r[node.a], r[node.b]);
  };
  for (unsigned i = 0; i != count; ++i)
    if (block[i].live && node.kind == Kind::Exchange)
      shared[i] = before[i].registers[node.a];
  for (unsigned i = 0; i != count; ++i) {
    if (!block[i].live)
      continue;
    uint32_t &d = block[i].registers[node.d];
    const unsigned first = i & ~31u, end = std::min(first + 32, count);
    switch (node.kind) {
    case Kind::Exchange:
      d = shared[(i * (node.immediate % 7) + 1) % count];
      break;
    case Kind::Ballot:
      d = 0;
      for (unsigned j = first; j != end; ++j)
        d |= uint32_t(holds(j)) << (j - first);
      break;
    case Kind::Shuffle:
      d = before[i ^ node.immediate % 32].registers[node.a];
      break;
    case Kind::MaskedSum: {
      if (!holds(i))
        break;
      uint32_t sum = 0;
      for (unsigned j = first; j != end; ++j)
        sum += holds(j) ? before[j].registers[node.a] : 0;
      d = sum;
      break;
    }
    default:
      break;
    }
  }
}

std::vector<uint32_t> runReference(const Body &body, unsigned blocks,
                                   unsigned threads) {
  std::vector<uint32_t> result;
  for (unsigned index = 0; index != blocks; ++index) {
    std::vector<Thread> block(threads);
    std::vector<uint32_t> shared(threads, 99);
    for (unsigned t = 0; t != threads; ++t)
      for (unsigned i = 0; i != kRegisters; ++i)
        block[t].registers[i] =
            (index * threads + t) * (2654435761u * (i + 1)) + 40503u * i;
    for (const Node &node : body) {
      if (node.kind >= Kind::Exchange) {
        runTogether(node, block, shared);
        continue;
      }
      for (Thread &thread : block)
        if (thread.live)
          thread.live = runNode(node, thread) != After::Exit;
    }
    for (const Thread &thread : block)
      result.insert(result.end(), thread.registers.begin(),
                    thread.registers.end());
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

std::string printStatistics(const LaunchResult &result) {
  std::string text;
  llvm::raw_string_ostream os(text);
  result.statistics.printJson(os, /*perLine=*/true);
  return text;
}

TEST(RandomKernels, GiveTheReferenceInEveryOrder) {
  constexpr unsigned kBlocks = 3;
  for (unsigned seed = 0; seed != 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const unsigned sizes[] = {32, 64, 1, 33, 96, 50, 128};
    const unsigned threads = sizes[seed % std::size(sizes)];
    const Body body = Maker(seed, threads).make();
    const std::string text = printKernel(body, threads);
    const std::vector<uint32_t> expected = runReference(body, kBlocks, threads);
    std::string statistics;
    for (unsigned variant = 0; variant != 6; ++variant) {
      LaunchOptions options;
      options.grid = {kBlocks, 1, 1};
      options.block = Dim3{threads, 1, 1};
      options.hostThreads = 1 + variant % 2;
      options.collectStatistics = variant < 2;
      if (variant >= 2) {
        options.schedule = Schedule::Random;
        options.seed = variant;
      }
      std::vector<uint8_t> out(kBlocks * threads * kRegisters * 4, 0xFF);
      llvm::Expected<LaunchResult> result = launch(text, {&out}, options);
      ASSERT_TRUE(bool(result)) << llvm::toString(result.takeError()) << '\n'
                                << text;
      ASSERT_EQ(fromBytes<uint32_t>(out), expected) << text;
      if (variant == 0)
        statistics = printStatistics(*result);
      if (variant == 1) {
        ASSERT_EQ(printStatistics(*result), statistics);
      }
    }
  }
}

} // namespace
