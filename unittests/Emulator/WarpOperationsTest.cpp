//===- WarpOperationsTest.cpp - Lanes that work together ------------------===//

#include "LanewiseHarness.h"

#include <cmath>
#include <functional>
#include <map>

using namespace tile::emulator;

namespace {

/// One word for each lane.
using Words = std::array<uint32_t, 32>;

Words makeWords(uint64_t seed) {
  Words words;
  for (unsigned lane = 0; lane != 32; ++lane)
    words[lane] = static_cast<uint32_t>(hashBits(32 * seed + lane));
  return words;
}

/// Runs `body`, which finds %a, %b and %c and stores words at %out.
std::vector<uint32_t> runWarp(const std::string &body, const Words &a,
                              const Words &b, const Words &c,
                              std::string &error, unsigned outWords = 2,
                              Target target = {}) {
  std::vector<uint32_t> in;
  for (unsigned lane = 0; lane != 32; ++lane)
    in.insert(in.end(), {a[lane], b[lane], c[lane]});
  std::string text = loadRegister<uint32_t>("%a", 0) +
                     loadRegister<uint32_t>("%b", 4) +
                     loadRegister<uint32_t>("%c", 8) + body;
  return fromBytes<uint32_t>(runLanes(text, toBytes(in), 12, 4 * outWords,
                                      error, target.name, target.version));
}

/// Expects %d and the predicate %p of `instruction` to be what `expected` says.
void expectWarp(
    const std::string &instruction, const Words &a, const Words &b,
    const Words &c,
    std::function<std::pair<uint32_t, bool>(unsigned lane)> expected,
    Target target = {}) {
  SCOPED_TRACE(instruction);
  std::string error;
  std::vector<uint32_t> out =
      runWarp(".reg .b32 %d, %w; .reg .pred %p, %q;\nmov.b32 %d, -1;\n"
              "setp.eq.u32 %p, 1, 2;\n" +
                  instruction +
                  "\nst.global.b32 [%out], %d; selp.u32 %w, 1, 0, %p;\n"
                  "st.global.b32 [%out+4], %w;",
              a, b, c, error, 2, target);
  ASSERT_EQ(error, "");
  for (unsigned lane = 0; lane != 32; ++lane) {
    auto [d, p] = expected(lane);
    EXPECT_EQ(printBits(out[2 * lane]), printBits(d)) << "lane " << lane;
    EXPECT_EQ(out[2 * lane + 1], p) << "lane " << lane;
  }
}

//===----------------------------------------------------------------------===//
// shfl
//===----------------------------------------------------------------------===//

/// The lane that `mode` reads, or -1: the ranges of the ISA as lists of lanes.
int findSource(const std::string &mode, int lane, int b, uint32_t c) {
  b %= 32;
  int segment = c >> 8 & 31, clamp = c & 31;
  // The lanes that agree with ours in the bits of the segment mask.
  int first = 0, last = 0;
  for (int bit = 1; bit != 32; bit *= 2) {
    first += lane & segment & bit;
    last += segment & bit ? lane & bit : clamp & bit;
  }
  if (mode == "up")
    return lane - b >= last ? lane - b : -1;
  int from = mode == "down" ? lane + b : lane ^ b;
  if (mode == "idx") {
    from = first;
    for (int bit = 1; bit != 32; bit *= 2)
      if (!(segment & bit))
        from |= b & bit;
  }
  return from <= last ? from : -1;
}

TEST(WarpOperations, Shuffle) {
  for (const char *mode : {"up", "down", "bfly", "idx"})
    for (unsigned round = 0; round != 8; ++round) {
      Words a = makeWords(round), b = makeWords(round + 100),
            c = makeWords(round + 200);
      for (unsigned lane = 0; lane != 32; ++lane) {
        // The forms that CUDA's functions use, and anything.
        unsigned width = 1u << (round % 6);
        uint32_t clamp = mode == std::string("up") ? 0 : 31;
        if (round < 6) {
          c[lane] = (32 - width) << 8 | clamp;
          b[lane] %= 33;
        }
      }
      expectWarp("shfl.sync." + std::string(mode) +
                     ".b32 %d|%p, %a, %b, %c, 0xFFFFFFFF;",
                 a, b, c, [&](unsigned lane) {
                   int from = findSource(mode, lane, b[lane] % 32, c[lane]);
                   return std::pair(a[from < 0 ? lane : from], from >= 0);
                 });
    }
}

TEST(WarpOperations, ShuffleByConstants) {
  Words a = makeWords(9), none = {};
  for (const char *mode : {"up", "down", "bfly", "idx"})
    for (auto [b, c] : {std::pair(1u, 31u),
                        {4u, 0u},
                        {9u, 0x181Fu},
                        {3u, 0x1800u},
                        {33u, 0x0C07u},
                        {16u, 0x1010u}})
      expectWarp("shfl.sync." + std::string(mode) + ".b32 %d|%p, %a, " +
                     std::to_string(b) + ", " + std::to_string(c) + ", -1;",
                 a, none, none, [&, b = b, c = c](unsigned lane) {
                   int from = findSource(mode, lane, b, c);
                   return std::pair(a[from < 0 ? lane : from], from >= 0);
                 });
}

TEST(WarpOperations, ShuffleInPlace) {
  Words a = makeWords(1), none = {};
  expectWarp("shfl.sync.bfly.b32 %a, %a, 1, 31, -1; mov.b32 %d, %a;", a, none,
             none,
             [&](unsigned lane) { return std::pair(a[lane ^ 1], false); });
}

TEST(WarpOperations, ShuffleOfSomeLanes) {
  Words a = makeWords(2), none = {};
  // Odd lanes alone, by a guard.
  expectWarp("and.b32 %w, %lane, 1; setp.eq.u32 %q, %w, 1;\n"
             "@%q shfl.sync.up.b32 %d|%p, %a, 2, 0, 0xAAAAAAAA;",
             a, none, none, [&](unsigned lane) {
               if (lane % 2 == 0)
                 return std::pair(~0u, false);
               return std::pair(a[lane == 1 ? 1 : lane - 2], lane != 1);
             });
  // Two halves in one instruction, each with its own mask.
  expectWarp("setp.lt.u32 %q, %lane, 16; selp.b32 %w, 0xFFFF, 0xFFFF0000, %q;\n"
             "shfl.sync.idx.b32 %d|%p, %a, 3, 0x100F, %w;",
             a, none, none, [&](unsigned lane) {
               return std::pair(a[lane / 16 * 16 + 3], true);
             });
  // Each half in a branch of its own.
  expectWarp("setp.lt.u32 %q, %lane, 16;\n@%q bra LOW;\n"
             "shfl.sync.bfly.b32 %d|%p, %a, 1, 31, 0xFFFF0000; bra END;\n"
             "LOW: shfl.sync.bfly.b32 %d|%p, %a, 2, 31, 0xFFFF;\nEND:",
             a, none, none, [&](unsigned lane) {
               return std::pair(a[lane < 16 ? lane ^ 2 : lane ^ 1], true);
             });
}

TEST(WarpOperations, LanesThatAreGone) {
  // The mask may name lanes that have exited: nobody waits for them.
  Words a = makeWords(3), none = {};
  std::string error;
  std::vector<uint32_t> out =
      runWarp(".reg .b32 %d; .reg .pred %q; setp.ge.u32 %q, %lane, 8;\n"
              "@%q ret;\nshfl.sync.bfly.b32 %d, %a, 5, 31, -1;\n"
              "st.global.b32 [%out], %d;",
              a, none, none, error, 1);
  ASSERT_EQ(error, "");
  for (unsigned lane = 0; lane != 8; ++lane)
    EXPECT_EQ(out[lane], a[lane ^ 5]);
  EXPECT_EQ(out[8], ~0u);
}

TEST(WarpOperations, LanesThatLeave) {
  // Lane 31 exits while the others wait for it.
  Words a = makeWords(4), none = {};
  std::string error;
  std::vector<uint32_t> out =
      runWarp(".reg .b32 %d, %n; .reg .pred %q, %r;\n"
              "setp.eq.u32 %q, %lane, 31; @!%q bra GO; mov.u32 %n, 0;\n"
              "LOOP: add.u32 %n, %n, 1; setp.lt.u32 %r, %n, 50; @%r bra LOOP;\n"
              "@%q ret;\nGO: shfl.sync.down.b32 %d, %a, 1, 31, -1;\n"
              "setp.lt.u32 %r, %lane, 30; @%r st.global.b32 [%out], %d;",
              a, none, none, error, 1);
  ASSERT_EQ(error, "");
  for (unsigned lane = 0; lane != 30; ++lane)
    EXPECT_EQ(out[lane], a[lane + 1]);
}

TEST(WarpOperations, TilesThatComeInParts) {
  // Lanes 0 to 23 come first: the lower half is complete, the upper one waits.
  // Lane 31 takes no part.
  Words a = makeWords(5), none = {};
  expectWarp("setp.lt.u32 %q, %lane, 16;\n"
             "selp.b32 %w, 0xFFFF, 0x7FFF0000, %q;\n"
             "setp.lt.u32 %q, %lane, 24; @%q bra GO;\n"
             "setp.eq.u32 %q, %lane, 31; @%q bra END;\n"
             "GO: shfl.sync.idx.b32 %d|%p, %a, 12, 0x100F, %w;\nEND:",
             a, none, none, [&](unsigned lane) {
               if (lane == 31)
                 return std::pair(~0u, false);
               return std::pair(a[lane / 16 * 16 + 12], true);
             });
}

TEST(WarpOperations, ShuffleUnwritten) {
  std::string start = ".reg .b32 %d, %u, %m; .reg .pred %q, %p;\n"
                      ".reg .b16 %h, %g; mov.b16 %h, 1;\n"
                      "setp.lt.u32 %q, %lane, 4;\n";
  // A lane that does not take part gives nothing: no matter unless it is used.
  std::string partial = "@%q shfl.sync.down.b32 %d|%p, %lane, 1, 31, 0xF;\n";
  EXPECT_EQ(getError(start + partial), "");
  EXPECT_EQ(getError(start + partial +
                     "setp.lt.u32 %q, %lane, 3;\n"
                     "@%q st.global.b32 [%out], %d;"),
            "");
  expectError(start + partial + "@%q st.global.b32 [%out], %d;",
              "[uninitialized]");
  // Unwritten bits travel from lane to lane.
  std::string bits = "mov.b32 %m, {%h, %h};\n@%q mov.b32 %m, {%h, %g};\n"
                     "shfl.sync.bfly.b32 %d, %m, 4, 31, -1;\n"
                     "mov.b32 {%h, %g}, %d;\n";
  EXPECT_EQ(getError(start + bits + "st.global.b16 [%out], %h;"), "");
  EXPECT_EQ(getError(start + bits + "@%q st.global.b16 [%out], %g;"), "");
  expectError(start + bits + "st.global.b16 [%out], %g;", "thread: 4,0,0");
}

TEST(WarpOperations, MaskFaults) {
  std::string start = ".reg .b32 %d, %m; .reg .pred %q;\n";
  expectError(start + "shfl.sync.idx.b32 %d, %lane, 0, 31, 0x7FFFFFFF;",
              "lane 31 executes with member mask 0x7FFFFFFF, which does not "
              "name it [illegal-operand]");
  expectError(start + "setp.lt.u32 %q, %lane, 7; selp.b32 %m, -1, -2, %q;\n"
                      "bar.warp.sync %m;",
              "[illegal-operand]");
  expectError(start + "bar.warp.sync %m;", "[uninitialized]");
  // Lanes that wait for each other at different instructions.
  expectError(start + "setp.lt.u32 %q, %lane, 7;\n"
                      "@%q redux.sync.add.u32 %d, %lane, -1;\n"
                      "@!%q bar.warp.sync -1;",
              "[divergence]");
}

//===----------------------------------------------------------------------===//
// vote and match
//===----------------------------------------------------------------------===//

TEST(WarpOperations, Vote) {
  Words none = {};
  for (uint32_t ones : {0u, ~0u, 0x00010000u, 0xFFFF7FFFu, 0x5A3C1E0Fu}) {
    Words a;
    for (unsigned lane = 0; lane != 32; ++lane)
      a[lane] = ones >> lane & 1;
    std::string start = "setp.ne.u32 %q, %a, 0; ";
    auto test = [&](const std::string &text, bool expected) {
      expectWarp(start + text, a, none, none,
                 [&](unsigned) { return std::pair(~0u, expected); });
    };
    test("vote.sync.all.pred %p, %q, -1;", ones == ~0u);
    test("vote.sync.any.pred %p, %q, -1;", ones != 0);
    test("vote.sync.uni.pred %p, %q, -1;", ones == 0 || ones == ~0u);
    test("vote.sync.all.pred %p, !%q, -1;", ones == 0);
    expectWarp(start + "vote.sync.ballot.b32 %d, %q, -1;", a, none, none,
               [&](unsigned) { return std::pair(ones, false); });
    expectWarp(start + "vote.sync.ballot.b32 %d, !%q, -1;", a, none, none,
               [&](unsigned) { return std::pair(~ones, false); });
    // Halves by themselves.
    expectWarp(start + "setp.lt.u32 %p, %lane, 16;\n"
                       "selp.b32 %w, 0xFFFF, 0xFFFF0000, %p;\n"
                       "vote.sync.any.pred %p, %q, %w;\n"
                       "vote.sync.ballot.b32 %d, %q, %w;",
               a, none, none, [&](unsigned lane) {
                 uint32_t half = lane < 16 ? 0xFFFF : 0xFFFF0000;
                 return std::pair(ones & half, (ones & half) != 0);
               });
  }
}

TEST(WarpOperations, VoteUnwritten) {
  // Lane 5 has no value.
  std::string start =
      ".reg .b32 %d, %r; .reg .pred %p, %q, %t, %v, %w;\n"
      "setp.ne.u32 %t, %lane, 5; @%t setp.eq.u32 %q, 1, 1;\n"
      "@%t setp.gt.u32 %v, %lane, 9; @%t setp.eq.u32 %w, 1, 2;\n";
  std::string end = "selp.u32 %r, 1, 2, %p; st.global.b32 [%out], %r;";
  EXPECT_EQ(getError(start + "vote.sync.any.pred %p, %q, -1;" + end), "");
  EXPECT_EQ(getError(start + "vote.sync.all.pred %p, %v, -1;" + end), "");
  EXPECT_EQ(getError(start + "vote.sync.uni.pred %p, %v, -1;" + end), "");
  expectError(start + "vote.sync.all.pred %p, %q, -1;" + end,
              "[uninitialized]");
  expectError(start + "vote.sync.any.pred %p, %w, -1;" + end,
              "[uninitialized]");
  expectError(start + "vote.sync.uni.pred %p, %q, -1;" + end,
              "[uninitialized]");
  std::string ballot = "vote.sync.ballot.b32 %d, %q, -1;\n";
  EXPECT_EQ(getError(start + ballot +
                     "and.b32 %d, %d, 0xFFFFFFDF;\n"
                     "st.global.b32 [%out], %d;"),
            "");
  expectError(start + ballot +
                  "and.b32 %d, %d, 0x20;\n"
                  "st.global.b32 [%out], %d;",
              "[uninitialized]");
}

TEST(WarpOperations, Match) {
  Words none = {};
  for (unsigned round = 0; round != 4; ++round) {
    Words a = makeWords(round), b = makeWords(round + 50);
    for (unsigned lane = 0; lane != 32; ++lane) {
      a[lane] = a[lane] % (2 + 3 * round) + 0x80000000;
      b[lane] = b[lane] % 2;
    }
    auto same = [&](unsigned lane, bool isWide, uint32_t members) {
      uint32_t mask = 0;
      for (unsigned other = 0; other != 32; ++other)
        if ((members >> other & 1) && a[lane] == a[other] &&
            (!isWide || b[lane] == b[other]))
          mask |= 1u << other;
      return mask;
    };
    expectWarp("match.any.sync.b32 %d, %a, -1;", a, b, none,
               [&](unsigned lane) {
                 return std::pair(same(lane, false, ~0u), false);
               });
    expectWarp(".reg .b64 %wide; mov.b64 %wide, {%a, %b};\n"
               "match.any.sync.b64 %d, %wide, -1;",
               a, b, none, [&](unsigned lane) {
                 return std::pair(same(lane, true, ~0u), false);
               });
    expectWarp("match.all.sync.b32 %d|%p, %a, -1;", a, b, none,
               [&](unsigned) { return std::pair(0u, false); });
    for (uint32_t &value : a)
      value = a[0];
    expectWarp("match.all.sync.b32 %d|%p, %a, -1;", a, b, none,
               [&](unsigned) { return std::pair(~0u, true); });
    expectWarp(".reg .b64 %wide; mov.b64 %wide, {%a, %lane};\n"
               "match.all.sync.b64 %d|%p, %wide, -1;",
               a, b, none, [&](unsigned) { return std::pair(0u, false); });
    expectWarp("setp.lt.u32 %q, %lane, 5;\n"
               "@%q match.all.sync.b32 %d|%p, %a, 0x1F;",
               a, b, none, [&](unsigned lane) {
                 return lane < 5 ? std::pair(0x1Fu, true)
                                 : std::pair(~0u, false);
               });
  }
}

//===----------------------------------------------------------------------===//
// redux
//===----------------------------------------------------------------------===//

using Reduce = std::function<uint32_t(const std::vector<uint32_t> &)>;

void expectRedux(const std::string &name, Reduce reduce, Target target = {},
                 std::function<uint32_t(uint32_t)> make = nullptr) {
  for (unsigned round = 0; round != 4; ++round) {
    Words a = makeWords(round + 300), none = {};
    if (make)
      for (uint32_t &value : a)
        value = make(value);
    auto over = [&](unsigned first, unsigned last) {
      return reduce({a.begin() + first, a.begin() + last});
    };
    expectWarp(
        "redux.sync." + name + " %d, %a, -1;", a, none, none,
        [&](unsigned) { return std::pair(over(0, 32), false); }, target);
    // A tile of one lane, one of seven, and the rest.
    expectWarp(
        "mov.b32 %w, 0xFFFFFF00; setp.lt.u32 %q, %lane, 8;\n"
        "@%q mov.b32 %w, 0xFE; setp.eq.u32 %q, %lane, 0;\n"
        "@%q mov.b32 %w, 1; redux.sync." +
            name + " %d, %a, %w;",
        a, none, none,
        [&](unsigned lane) {
          return std::pair(lane == 0  ? over(0, 1)
                           : lane < 8 ? over(1, 8)
                                      : over(8, 32),
                           false);
        },
        target);
  }
}

template <typename T, typename F>
Reduce fold(F f) {
  return [f](const std::vector<uint32_t> &values) {
    T result = static_cast<T>(values.front());
    for (size_t i = 1; i != values.size(); ++i)
      result = static_cast<T>(f(result, static_cast<T>(values[i])));
    return static_cast<uint32_t>(result);
  };
}

TEST(WarpOperations, Redux) {
  expectRedux("add.u32",
              fold<uint32_t>([](uint32_t x, uint32_t y) { return x + y; }));
  expectRedux("add.s32",
              fold<uint32_t>([](uint32_t x, uint32_t y) { return x + y; }));
  expectRedux("min.u32", fold<uint32_t>([](uint32_t x, uint32_t y) {
                return std::min(x, y);
              }));
  expectRedux("max.u32", fold<uint32_t>([](uint32_t x, uint32_t y) {
                return std::max(x, y);
              }));
  expectRedux("min.s32", fold<int32_t>([](int32_t x, int32_t y) {
                return std::min(x, y);
              }));
  expectRedux("max.s32", fold<int32_t>([](int32_t x, int32_t y) {
                return std::max(x, y);
              }));
  expectRedux("and.b32",
              fold<uint32_t>([](uint32_t x, uint32_t y) { return x & y; }), {},
              [](uint32_t x) { return x | 0x7FFFFF0F; });
  expectRedux("or.b32",
              fold<uint32_t>([](uint32_t x, uint32_t y) { return x | y; }), {},
              [](uint32_t x) { return x & 0x80001010; });
  expectRedux("xor.b32",
              fold<uint32_t>([](uint32_t x, uint32_t y) { return x ^ y; }));
}

float toFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

/// The extreme of floats: sorted by value, -0 before +0.
Reduce reduceFloats(bool isMax, bool absolute, bool propagates) {
  return [=](const std::vector<uint32_t> &values) {
    std::map<std::pair<float, bool>, uint32_t> sorted;
    bool hasNan = false;
    for (uint32_t bits : values) {
      if (absolute)
        bits &= 0x7FFFFFFF;
      float value = toFloat(bits);
      if (std::isnan(value))
        hasNan = true;
      else
        sorted[{value, !std::signbit(value)}] = bits;
    }
    if (sorted.empty() || (hasNan && propagates))
      return 0x7FFFFFFFu;
    return isMax ? sorted.rbegin()->second : sorted.begin()->second;
  };
}

TEST(WarpOperations, ReduxOfFloats) {
  Target target = {"sm_100a", "8.8"};
  const std::function<uint32_t(uint32_t)> sets[] = {
      nullptr,
      [](uint32_t x) { return x % 5 ? x : 0x7FC00000 | x % 77; }, // NaNs
      [](uint32_t x) { return x & 0x80000000; },                  // ±0
      [](uint32_t x) { return x | 0x7F800001; },                  // all NaN
      [](uint32_t x) { return (x & 0x80000000) | 0x00000010 | (x & 15); }};
  for (const auto &make : sets)
    for (bool isMax : {false, true})
      for (bool absolute : {false, true})
        for (bool propagates : {false, true})
          expectRedux(std::string(isMax ? "max" : "min") +
                          (absolute ? ".abs" : "") +
                          (propagates ? ".NaN" : "") + ".f32",
                      reduceFloats(isMax, absolute, propagates), target, make);
}

//===----------------------------------------------------------------------===//
// activemask, elect and the rest
//===----------------------------------------------------------------------===//

TEST(WarpOperations, Activemask) {
  Words none = {};
  expectWarp("setp.gt.u32 %q, %lane, 20; @%q activemask.b32 %d;\n"
             "@!%q activemask.b32 %d;",
             none, none, none, [](unsigned lane) {
               return std::pair(lane > 20 ? 0xFFE00000u : 0x001FFFFFu, false);
             });
}

TEST(WarpOperations, Elect) {
  Words none = {};
  expectWarp("setp.gt.u32 %q, %lane, 20;\n"
             "@%q elect.sync %d|%p, 0xFFE00000;",
             none, none, none, [](unsigned lane) {
               return std::pair(lane > 20 ? 21u : ~0u, lane == 21);
             });
  expectWarp("elect.sync _|%p, -1;", none, none, none,
             [](unsigned lane) { return std::pair(~0u, lane == 0); });
}

TEST(WarpOperations, Meeting) {
  // Lanes that come late, each after as many turns as its number, then exchange
  // through memory what they have.
  Words none = {};
  expectWarp("mov.u32 %d, 0; setp.eq.u32 %q, %lane, 0; @%q bra END;\n"
             "LOOP: add.u32 %d, %d, 3; sub.u32 %w, %d, 0;\n"
             "mul.lo.u32 %b, %lane, 3; setp.lt.u32 %q, %w, %b; @%q bra LOOP;\n"
             "END: bar.warp.sync -1; shfl.sync.idx.b32 %d, %d, 31, 31, -1;",
             none, none, none, [](unsigned) { return std::pair(93u, false); });
}

TEST(WarpOperations, NoEffect) {
  EXPECT_EQ(getError("griddepcontrol.wait; griddepcontrol.launch_dependents;\n"
                     ".reg .b32 %t; mov.b32 %t, 20; nanosleep.u32 %t;\n"
                     "nanosleep.u32 100; bar.warp.sync 0xFFFFFFFF;"),
            "");
}

TEST(WarpOperations, Errors) {
  std::string registers = ".reg .b32 %r; .reg .pred %p; .reg .b64 %w;\n";
  expectError(registers + "shfl.up.b32 %r, %r, 1, 0;", "shfl");
  expectError(registers + "shfl.sync.left.b32 %r, %r, 1, 0, -1;",
              "'shfl' expects .up, .down, .bfly or .idx");
  expectError(registers + "vote.sync.ballot.pred %p, %p, -1;",
              "'vote' expects .b32, but got .pred");
  expectError(registers + "match.any.sync.b32 %r|%p, %r, -1;",
              "'match.any' expects one register, but got '%r|%p'");
  expectError(registers + "redux.sync.and.u32 %r, %r, -1;",
              "'redux.sync.and' expects .b32, but got .u32");
  expectError(registers + "redux.sync.add.f32 %r, %r, -1;",
              "'redux.sync.add' expects .u32 or .s32, but got .f32");
  expectError(registers + "redux.sync.max.f32 %r, %r, -1;",
              "'redux.sync.max' of .f32 needs sm_100a, sm_103a or their "
              "families, but the module's target is sm_120a",
              {"sm_120a", "8.8"});
  expectError(registers + "redux.sync.max.abs.s32 %r, %r, -1;",
              "'.abs' and '.NaN' expect .f32, but got .s32");
  expectError(registers + "elect.sync %r, -1;",
              "'elect.sync' expects a register and a predicate as in 'd|p'");
  expectError(registers + "elect.sync %r|%p, -1;", "needs sm_90 or later",
              {"sm_80", "8.0"});
  expectError(registers + "nanosleep.u64 %w;",
              "'nanosleep' expects .u32, but got .u64");
}

} // namespace
