//===- LaneOperations.cpp - Intrinsics that concern one lane --------------===//
//
// Meanings from the PTX ISA: special registers, "prmt", "cvt" and the
// approximate functions of "Floating Point Instructions".
//
//===----------------------------------------------------------------------===//

#include "Codes.h"
#include "Machine.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/bit.h"

#include <cfenv>
#include <cmath>
#include <cstring>

using namespace tile;
using namespace tile::lane;
using llvm::createStringError;
using llvm::Error;
using llvm::StringRef;

using Args = const uint64_t *;
using Results = uint64_t *;

static float asFloat(uint64_t bits) {
  return llvm::bit_cast<float>(uint32_t(bits));
}
static double asDouble(uint64_t bits) { return llvm::bit_cast<double>(bits); }
static uint64_t toBits(float value) {
  return std::isnan(value) ? 0x7FFFFFFF : llvm::bit_cast<uint32_t>(value);
}

/// An operation that computes its results from its operands alone.
template <typename Function>
static Operation getPure(Function function) {
  Operation operation;
  operation.laneFunction = [function](Machine &, Lane &, Args args,
                                      Results results) {
    function(args, results);
    return Error::success();
  };
  return operation;
}

/// An operation that does nothing to a machine that runs in program order.
static Operation getNothing() {
  return getPure([](Args, Results) {});
}

//===----------------------------------------------------------------------===//
// Special registers
//===----------------------------------------------------------------------===//

static std::optional<Operation> findRegister(StringRef name) {
  auto get = [](uint64_t (*read)(const Machine &, const Lane &)) {
    Operation operation;
    operation.laneFunction = [read](Machine &machine, Lane &lane, Args,
                                    Results results) {
      results[0] = read(machine, lane);
      return Error::success();
    };
    return operation;
  };
  using M = const Machine &;
  using L = const Lane &;
  using Read = uint64_t (*)(M, L);
  Read read =
      llvm::StringSwitch<Read>(name)
          .Case("tid.x", [](M, L l) -> uint64_t { return l.tid[0]; })
          .Case("tid.y", [](M, L l) -> uint64_t { return l.tid[1]; })
          .Case("tid.z", [](M, L l) -> uint64_t { return l.tid[2]; })
          .Case("ntid.x", [](M m, L) -> uint64_t { return m.block[0]; })
          .Case("ntid.y", [](M m, L) -> uint64_t { return m.block[1]; })
          .Case("ntid.z", [](M m, L) -> uint64_t { return m.block[2]; })
          .Case("ctaid.x", [](M m, L) -> uint64_t { return m.blockIndex[0]; })
          .Case("ctaid.y", [](M m, L) -> uint64_t { return m.blockIndex[1]; })
          .Case("ctaid.z", [](M m, L) -> uint64_t { return m.blockIndex[2]; })
          .Case("nctaid.x", [](M m, L) -> uint64_t { return m.grid[0]; })
          .Case("nctaid.y", [](M m, L) -> uint64_t { return m.grid[1]; })
          .Case("nctaid.z", [](M m, L) -> uint64_t { return m.grid[2]; })
          .Case("laneid", [](M, L l) -> uint64_t { return l.thread % 32; })
          .Case("warpid", [](M, L l) -> uint64_t { return l.thread / 32; })
          .Case("warpsize", [](M, L) -> uint64_t { return 32; })
          .Case("lanemask.eq",
                [](M, L l) -> uint64_t { return 1u << l.thread % 32; })
          .Case("lanemask.lt",
                [](M, L l) -> uint64_t { return (1u << l.thread % 32) - 1; })
          .Case("lanemask.le",
                [](M, L l) -> uint64_t {
                  return uint32_t((uint64_t(2) << l.thread % 32) - 1);
                })
          .Case("lanemask.ge",
                [](M, L l) -> uint64_t {
                  return uint32_t(~((1u << l.thread % 32) - 1));
                })
          .Case("lanemask.gt",
                [](M, L l) -> uint64_t {
                  return uint32_t(~((uint64_t(2) << l.thread % 32) - 1));
                })
          .Default(nullptr);
  if (!read)
    return std::nullopt;
  return get(read);
}

//===----------------------------------------------------------------------===//
// Byte permutation
//===----------------------------------------------------------------------===//

static uint32_t permute(uint32_t a, uint32_t b, uint32_t selector) {
  uint64_t bytes = uint64_t(b) << 32 | a;
  uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    unsigned field = selector >> 4 * i & 0xF;
    uint32_t byte = bytes >> 8 * (field & 7) & 0xFF;
    // Bit 3 of the field replicates the sign of the byte.
    if (field & 8)
      byte = byte & 0x80 ? 0xFF : 0;
    result |= byte << 8 * i;
  }
  return result;
}

/// The selector of a mode other than the default, "prmt" table of the ISA.
static uint32_t getPermuteSelector(StringRef mode, uint32_t c) {
  static const uint16_t f4e[] = {0x3210, 0x4321, 0x5432, 0x6543};
  static const uint16_t b4e[] = {0x5670, 0x6701, 0x7012, 0x0123};
  static const uint16_t rc8[] = {0x0000, 0x1111, 0x2222, 0x3333};
  static const uint16_t ecl[] = {0x3210, 0x3211, 0x3222, 0x3333};
  static const uint16_t ecr[] = {0x0000, 0x1110, 0x2210, 0x3210};
  static const uint16_t rc16[] = {0x1010, 0x3232, 0x1010, 0x3232};
  const uint16_t *table = llvm::StringSwitch<const uint16_t *>(mode)
                              .Case("f4e", f4e)
                              .Case("b4e", b4e)
                              .Case("rc8", rc8)
                              .Case("ecl", ecl)
                              .Case("ecr", ecr)
                              .Default(rc16);
  return table[c & 3];
}

static std::optional<Operation> findPermute(StringRef mode) {
  if (mode.empty())
    return getPure([](Args a, Results r) { r[0] = permute(a[0], a[1], a[2]); });
  std::string name = mode.drop_front().str();
  bool hasTwo = name == "f4e" || name == "b4e";
  bool hasOne =
      name == "rc8" || name == "ecl" || name == "ecr" || name == "rc16";
  if (!hasTwo && !hasOne)
    return std::nullopt;
  return getPure([name, hasTwo](Args a, Results r) {
    r[0] = hasTwo ? permute(a[0], a[1], getPermuteSelector(name, a[2]))
                  : permute(a[0], 0, getPermuteSelector(name, a[1]));
  });
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// `cvt` to a pair: the first source becomes the upper half.
static std::optional<Operation> findPairConversion(StringRef name) {
  // ff.to.e4m3x2.rn, f16x2.to.e5m2x2.rn, ff.to.e2m1x2.rn.satfinite,
  // ff.to.ue8m0x2.rz.satfinite, bf16x2.to.ue8m0x2.rp, e4m3x2.to.f16x2.rn,
  // e2m1x2.to.f16x2.rn, ue8m0x2.to.bf16x2
  auto [from, rest] = name.split(".to.");
  auto [to, suffix] = rest.split('.');
  if (rest.empty())
    return std::nullopt;

  // Packed codes to packed values.
  if (to == "f16x2" || to == "bf16x2") {
    StringRef codeName = from;
    if (!codeName.consume_back("x2"))
      return std::nullopt;
    std::optional<Code> source = findCode(codeName);
    Code target = to == "f16x2" ? Code::F16 : Code::BF16;
    if (!source || suffix != (to == "f16x2" ? "rn" : ""))
      return std::nullopt;
    unsigned width = *source == Code::E2M1 ? 4 : 8;
    return getPure([source, target, width](Args a, Results r) {
      uint32_t mask = (1u << width) - 1;
      r[0] = encode(target, decode(*source, a[0] & mask)) |
             encode(target, decode(*source, a[0] >> width & mask)) << 16;
    });
  }

  // Packed or separate values to packed codes.
  StringRef codeName = to;
  if (!codeName.consume_back("x2"))
    return std::nullopt;
  std::optional<Code> target = findCode(codeName);
  std::optional<Code> source;
  if (from == "f16x2")
    source = Code::F16;
  else if (from == "bf16x2")
    source = Code::BF16;
  else if (from != "ff")
    return std::nullopt;
  auto getSources = [source](Args a) -> std::pair<double, double> {
    if (source)
      return {decode(*source, a[0] & 0xFFFF), decode(*source, a[0] >> 16)};
    return {asFloat(a[1]), asFloat(a[0])};
  };
  if (target == Code::UE8M0) {
    auto [mode, saturation] = suffix.split('.');
    if ((mode != "rz" && mode != "rp") ||
        (saturation != "" && saturation != "satfinite"))
      return std::nullopt;
    return getPure([getSources, up = mode == "rp",
                    saturate = !saturation.empty()](Args a, Results r) {
      auto [low, high] = getSources(a);
      r[0] = encodeUE8M0(low, up, saturate) | encodeUE8M0(high, up, saturate)
                                                  << 8;
    });
  }
  if (!target || (suffix != "rn" && suffix != "rn.satfinite"))
    return std::nullopt;
  unsigned width = *target == Code::E2M1 ? 4 : 8;
  return getPure([getSources, target, width](Args a, Results r) {
    auto [low, high] = getSources(a);
    r[0] = encode(*target, low) | encode(*target, high) << width;
  });
}

/// cvt.rn.bf16x2 of a part of a word and lop3 with a mask that chooses bits,
/// for which there are no intrinsics.
std::optional<Operation> lane::findPureAssembly(StringRef text) {
  if (text.consume_front("lop3.b32 $0, $1, $2, ")) {
    uint32_t mask;
    if (text.consumeInteger(10, mask) || text != ", 228;")
      return std::nullopt;
    return getPure([mask](Args a, Results r) {
      r[0] = static_cast<uint32_t>((a[0] & mask) | (a[1] & ~mask));
    });
  }
  bool isFp4 = text.consume_front(
      "{ .reg .b8 c0, c1, c2, c3; mov.b32 {c0, c1, c2, c3}, $1; "
      "cvt.rn.bf16x2.e2m1x2 $0, c");
  if (!isFp4 && !text.consume_front("{ .reg .b16 c0, c1; mov.b32 {c0, c1}, $1; "
                                    "cvt.rn.bf16x2.e4m3x2 $0, c"))
    return std::nullopt;
  unsigned part = 0;
  if (text.consumeInteger(10, part) || part >= (isFp4 ? 4u : 2u) ||
      text != "; }")
    return std::nullopt;
  Code source = isFp4 ? Code::E2M1 : Code::E4M3;
  const unsigned width = isFp4 ? 4 : 8;
  return getPure([source, width, part](Args a, Results r) {
    uint32_t mask = (1u << width) - 1;
    uint32_t codes = static_cast<uint32_t>(a[0]) >> 2 * width * part;
    r[0] = encode(Code::BF16, decode(source, codes & mask)) |
           encode(Code::BF16, decode(source, codes >> width & mask)) << 16;
  });
}

/// A host rounding mode for one of PTX's suffixes.
static std::optional<int> findRounding(StringRef name) {
  return llvm::StringSwitch<std::optional<int>>(name)
      .Case("rn", FE_TONEAREST)
      .Case("rz", FE_TOWARDZERO)
      .Case("rm", FE_DOWNWARD)
      .Case("rp", FE_UPWARD)
      .Default(std::nullopt);
}

/// `value` as an integer in the given direction.
static double roundTo(double value, int rounding) {
  switch (rounding) {
  case FE_TOWARDZERO:
    return std::trunc(value);
  case FE_DOWNWARD:
    return std::floor(value);
  case FE_UPWARD:
    return std::ceil(value);
  default:
    return std::nearbyint(value);
  }
}

/// f2i.rn, d2ull.rz, …: clamped, NaN becomes 0 (32 bits) or the top bit.
static std::optional<Operation> findFloatToInteger(StringRef name) {
  auto [head, mode] = name.split('.');
  std::optional<int> rounding = findRounding(mode);
  if (!rounding)
    return std::nullopt;
  bool fromDouble = head.consume_front("d2");
  if (!fromDouble && !head.consume_front("f2"))
    return std::nullopt;
  bool isUnsigned = head.consume_front("u");
  bool isLong = head == "ll";
  if (!isLong && head != "i")
    return std::nullopt;
  return getPure([=, rounding = *rounding](Args a, Results r) {
    double value = fromDouble ? asDouble(a[0]) : asFloat(a[0]);
    unsigned bits = isLong ? 64 : 32;
    if (std::isnan(value)) {
      r[0] = isLong ? uint64_t(1) << 63 : 0;
      return;
    }
    double integer = roundTo(value, rounding);
    if (isUnsigned) {
      double end = std::ldexp(1.0, bits);
      uint64_t top = isLong ? ~uint64_t(0) : 0xFFFFFFFF;
      r[0] = integer <= 0 ? 0 : integer >= end ? top : uint64_t(integer);
      return;
    }
    double end = std::ldexp(1.0, bits - 1);
    int64_t top = isLong ? INT64_MAX : INT32_MAX;
    int64_t value64 = integer >= end    ? top
                      : integer <= -end ? -top - 1
                                        : int64_t(integer);
    r[0] = isLong ? uint64_t(value64) : uint32_t(value64);
  });
}

/// i2f.rn, ull2f.rz, ui2d.rn, …
static std::optional<Operation> findIntegerToFloat(StringRef name) {
  auto [head, mode] = name.split('.');
  std::optional<int> rounding = findRounding(mode);
  if (!rounding)
    return std::nullopt;
  bool toDouble = head.consume_back("2d");
  if (!toDouble && !head.consume_back("2f"))
    return std::nullopt;
  bool isUnsigned = head.consume_front("u");
  bool isLong = head == "ll";
  if (!isLong && head != "i")
    return std::nullopt;
  return getPure([=, rounding = *rounding](Args a, Results r) {
    // `volatile` keeps the conversions between the changes of the mode.
    volatile uint64_t u = isLong ? a[0] : uint32_t(a[0]);
    volatile int64_t s = isLong ? int64_t(a[0]) : int32_t(a[0]);
    std::fesetround(rounding);
    volatile double d = 0;
    volatile float f = 0;
    if (toDouble)
      d = isUnsigned ? double(u) : double(s);
    else
      f = isUnsigned ? float(u) : float(s);
    std::fesetround(FE_TONEAREST);
    r[0] = toDouble ? llvm::bit_cast<uint64_t>(double(d))
                    : llvm::bit_cast<uint32_t>(float(f));
  });
}

/// ff2bf16x2.rn, ff2f16x2.rn, f2bf16.rn, f2f16.rn, f2h.rn
static std::optional<Operation> findHalfConversion(StringRef name) {
  if (name == "ff2bf16x2.rn" || name == "ff2f16x2.rn") {
    Code code = name.starts_with("ff2b") ? Code::BF16 : Code::F16;
    return getPure([code](Args a, Results r) {
      r[0] = encode(code, asFloat(a[1])) | encode(code, asFloat(a[0])) << 16;
    });
  }
  if (name == "f2bf16.rn" || name == "f2f16.rn" || name == "f2h.rn") {
    Code code = name == "f2bf16.rn" ? Code::BF16 : Code::F16;
    return getPure(
        [code](Args a, Results r) { r[0] = encode(code, asFloat(a[0])); });
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// Moves a result by at most `bound` relative, and `absolute` besides, in a
/// direction that the operand decides; only where the options ask for it.
static double perturb(const Machine &machine, double value, uint64_t operand,
                      double bound, double absolute) {
  if (!machine.options.approximate || !std::isfinite(value))
    return value;
  uint64_t hash = (operand + 1) * 0x9E3779B97F4A7C15ULL;
  double part = double(hash >> 11) / double(uint64_t(1) << 52) - 1.0;
  return value + part * (bound * std::fabs(value) + absolute);
}

/// One of the functions with a documented error, "Floating Point Instructions".
/// With `.ftz` subnormal operands and results become zeros.
static std::optional<Operation> findApproximate(StringRef fullName) {
  std::string plain = fullName.str();
  size_t ftz = plain.find(".ftz");
  bool flushes = ftz != std::string::npos;
  if (flushes)
    plain.erase(ftz, 4);
  StringRef name = plain;
  struct Function {
    double (*exact)(double);
    double relative;
    double absolute;
  };
  const double ulp = std::ldexp(1.0, -23);
  std::optional<Function> function =
      llvm::StringSwitch<std::optional<Function>>(name)
          .Case("ex2.approx.f32",
                Function{[](double x) { return std::exp2(x); }, 2 * ulp, 0})
          .Case("lg2.approx.f",
                Function{[](double x) { return std::log2(x); },
                         std::ldexp(1.0, -22), std::ldexp(1.0, -22)})
          .Case("sin.approx.f", Function{[](double x) { return std::sin(x); },
                                         0, std::exp2(-20.5)})
          .Case("cos.approx.f", Function{[](double x) { return std::cos(x); },
                                         0, std::exp2(-20.5)})
          .Case("rsqrt.approx.f",
                Function{[](double x) { return 1 / std::sqrt(x); },
                         std::exp2(-22.9), 0})
          .Case("sqrt.approx.f", Function{[](double x) { return std::sqrt(x); },
                                          std::exp2(-23.0), 0})
          .Case("rcp.approx.f",
                Function{[](double x) { return 1 / x; }, ulp, 0})
          .Case("tanh.approx.f32",
                Function{[](double x) { return std::tanh(x); },
                         std::exp2(-11.0), 0})
          .Default(std::nullopt);
  if (!function)
    return std::nullopt;
  Operation operation;
  operation.laneFunction = [f = *function, flushes](Machine &machine, Lane &,
                                                    Args a, Results r) {
    auto flush = [flushes](float x) {
      return flushes && std::fpclassify(x) == FP_SUBNORMAL
                 ? std::copysign(0.0f, x)
                 : x;
    };
    double exact = f.exact(flush(asFloat(a[0])));
    r[0] = toBits(
        flush(float(perturb(machine, exact, a[0], f.relative, f.absolute))));
    return Error::success();
  };
  return operation;
}

/// add, mul, div, rcp, sqrt, fma with `.rn` in f32: rounded once.
static std::optional<Operation> findArithmetic(StringRef name) {
  if (name == "rcp.rn.f")
    return getPure(
        [](Args a, Results r) { r[0] = toBits(1.0f / asFloat(a[0])); });
  if (name == "sqrt.rn.f" || name == "sqrt.f")
    return getPure(
        [](Args a, Results r) { r[0] = toBits(std::sqrt(asFloat(a[0]))); });
  if (name == "add.rn.f")
    return getPure([](Args a, Results r) {
      r[0] = toBits(asFloat(a[0]) + asFloat(a[1]));
    });
  if (name == "mul.rn.f")
    return getPure([](Args a, Results r) {
      r[0] = toBits(asFloat(a[0]) * asFloat(a[1]));
    });
  if (name == "div.rn.f")
    return getPure([](Args a, Results r) {
      r[0] = toBits(asFloat(a[0]) / asFloat(a[1]));
    });
  if (name == "fma.rn.f")
    return getPure([](Args a, Results r) {
      r[0] = toBits(std::fma(asFloat(a[0]), asFloat(a[1]), asFloat(a[2])));
    });
  if (name == "div.full" || name == "div.approx.f") {
    Operation operation;
    operation.laneFunction = [](Machine &machine, Lane &, Args a, Results r) {
      double exact = double(asFloat(a[0])) / asFloat(a[1]);
      r[0] = toBits(float(
          perturb(machine, exact, a[0] ^ a[1] << 1, std::ldexp(1.0, -22), 0)));
      return Error::success();
    };
    return operation;
  }
  // fma.rn.bf16, fma.rn.f16x2, …; the rewriter also spells `llvm.fma` of 16-bit
  // types in this way.
  if (name.consume_front("fma.rn.")) {
    unsigned count = name.consume_back("x2") ? 2 : 1;
    if (name != "f16" && name != "bf16")
      return std::nullopt;
    Code code = *findCode(name);
    return getPure([code, count](Args a, Results r) {
      r[0] = 0;
      for (unsigned i = 0; i < count; ++i) {
        unsigned shift = 16 * i;
        r[0] |= uint64_t(fusedMultiplyAdd(code, a[0] >> shift & 0xFFFF,
                                          a[1] >> shift & 0xFFFF,
                                          a[2] >> shift & 0xFFFF))
                << shift;
      }
    });
  }
  return std::nullopt;
}

/// fmin.f, fmax.nan.bf16x2, …: without `nan` the operand that is a number wins.
static std::optional<Operation> findMinMax(StringRef name) {
  bool isMax = name.consume_front("fmax.");
  if (!isMax && !name.consume_front("fmin."))
    return std::nullopt;
  bool propagate = name.consume_front("nan.");
  unsigned count = name.consume_back("x2") ? 2 : 1;
  std::optional<Code> code =
      name == "f" ? std::optional(Code::F32) : findCode(name);
  if (code != Code::F32 && code != Code::F16 && code != Code::BF16)
    return std::nullopt;
  unsigned width = *code == Code::F32 ? 32 : 16;
  uint32_t nan = *code == Code::F32 ? 0x7FFFFFFF : 0x7FFF;
  return getPure([=](Args a, Results r) {
    r[0] = 0;
    for (unsigned i = 0; i < count; ++i) {
      uint64_t mask = (uint64_t(1) << width) - 1;
      uint32_t x = a[0] >> width * i & mask, y = a[1] >> width * i & mask;
      double dx = decode(*code, x), dy = decode(*code, y);
      uint32_t result;
      if (std::isnan(dx) || std::isnan(dy)) {
        bool isLost = propagate || (std::isnan(dx) && std::isnan(dy));
        result = isLost ? nan : std::isnan(dx) ? y : x;
      } else if (dx == dy) {
        // -0 is less than +0.
        result = isMax == std::signbit(dx) ? y : x;
      } else {
        result = (dx < dy) == isMax ? y : x;
      }
      r[0] |= uint64_t(result) << width * i;
    }
  });
}

static std::optional<Operation> findInteger(StringRef name) {
  if (name == "mulhi.ui")
    return getPure([](Args a, Results r) {
      r[0] = uint64_t(uint32_t(a[0])) * uint32_t(a[1]) >> 32;
    });
  if (name == "mulhi.i")
    return getPure([](Args a, Results r) {
      r[0] = uint32_t(int64_t(int32_t(a[0])) * int32_t(a[1]) >> 32);
    });
  if (name == "saturate.f")
    return getPure([](Args a, Results r) {
      float x = asFloat(a[0]);
      r[0] = toBits(x > 0 ? std::min(x, 1.0f) : 0.0f);
    });
  return std::nullopt;
}

//===----------------------------------------------------------------------===//

std::optional<Operation> lane::findOperation(StringRef name) {
  if (name == "llvm.trap" || name == "llvm.ubsantrap" ||
      name == "llvm.debugtrap") {
    Operation operation;
    operation.laneFunction = [](Machine &, Lane &, Args, Results) {
      return createStringError("trap");
    };
    return operation;
  }
  if (!name.consume_front("llvm.nvvm."))
    return std::nullopt;
  if (std::optional<Operation> operation = findWarpOperation(name))
    return operation;
  if (std::optional<Operation> operation = findAsyncCopy(name))
    return operation;
  StringRef rest = name;
  if (rest.consume_front("read.ptx.sreg."))
    return findRegister(rest);
  rest = name;
  if (rest.consume_front("prmt"))
    return findPermute(rest);
  if (name == "membar.cta" || name == "membar.gl" || name == "membar.sys" ||
      name == "nanosleep" || name.starts_with("fence.proxy.async") ||
      name == "griddepcontrol.wait" ||
      name == "griddepcontrol.launch.dependents")
    return getNothing();
  for (auto find : {findPairConversion, findHalfConversion, findFloatToInteger,
                    findIntegerToFloat, findApproximate, findArithmetic,
                    findMinMax, findInteger})
    if (std::optional<Operation> operation = find(name))
      return operation;
  return std::nullopt;
}
