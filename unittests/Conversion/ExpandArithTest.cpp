//===- ExpandArithTest.cpp - Values of expanded scalar arithmetic ---------===//
//
// The operations of `arith` that tile-expand-math rewrites, against what
// docs/numerics.md says they are: over all i8 operands, and over hashed and
// extreme ones of the wider types.
//
//===----------------------------------------------------------------------===//

#include "HostFunctions.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <vector>

using namespace tile;
using llvm::APInt;

namespace {

uint64_t hash(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9;
  x ^= x >> 27;
  x *= 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

using Int = __int128;

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

struct IntegerCase {
  const char *name;
  bool isSigned;
  Int (*reference)(Int a, Int b, unsigned width);
};

/// A divisor of 0 counts as 1.
Int getDivisor(Int b) { return b == 0 ? 1 : b; }

const IntegerCase integerCases[] = {
    {"divsi", true,
     [](Int a, Int b, unsigned) -> Int { return a / getDivisor(b); }},
    {"divui", false,
     [](Int a, Int b, unsigned) -> Int { return a / getDivisor(b); }},
    {"remsi", true,
     [](Int a, Int b, unsigned) -> Int { return a % getDivisor(b); }},
    {"remui", false,
     [](Int a, Int b, unsigned) -> Int { return a % getDivisor(b); }},
    {"ceildivsi", true,
     [](Int a, Int b, unsigned) -> Int {
       b = getDivisor(b);
       return a / b + (a % b != 0 && (a < 0) == (b < 0));
     }},
    {"ceildivui", false,
     [](Int a, Int b, unsigned) -> Int {
       b = getDivisor(b);
       return a / b + (a % b != 0);
     }},
    {"floordivsi", true,
     [](Int a, Int b, unsigned) -> Int {
       b = getDivisor(b);
       return a / b - (a % b != 0 && (a < 0) != (b < 0));
     }},
    {"shli", false,
     [](Int a, Int b, unsigned width) -> Int {
       return b < width ? a << b : 0;
     }},
    {"shrui", false,
     [](Int a, Int b, unsigned width) -> Int {
       return b < width ? a >> b : 0;
     }},
    // The amount is unsigned: a negative one is large.
    {"shrsi", true,
     [](Int a, Int b, unsigned width) -> Int {
       return a >> (b < 0 || b >= width ? width - 1 : b);
     }},
};

/// The number that the low `width` bits of `bits` are.
Int decode(uint64_t bits, unsigned width, bool isSigned) {
  APInt value = APInt(64, bits).trunc(width);
  return isSigned ? Int(value.getSExtValue()) : Int(value.getZExtValue());
}

class IntegerTest : public testing::TestWithParam<IntegerCase> {
protected:
  void check(unsigned width, llvm::ArrayRef<uint64_t> values) {
    const IntegerCase &op = GetParam();
    HostFunctions host(
        llvm::formatv(
            R"(
      func.func @f(%x: i64, %y: i64) -> i64 {{
        {2}
        %result = arith.{0} %a, %b : i{1}
        {3}
        return %wide : i64
      })",
            op.name, width,
            width == 64 ? "%zero = arith.constant 0 : i64\n"
                          "%a = arith.addi %x, %zero : i64\n"
                          "%b = arith.addi %y, %zero : i64\n"
                        : llvm::formatv("%a = arith.trunci %x : i64 to "
                                        "i{0}\n"
                                        "%b = arith.trunci %y : i64 to "
                                        "i{0}\n",
                                        width)
                              .str(),
            width == 64 ? "%wide = arith.addi %result, %zero "
                          ": i64\n"
                        : llvm::formatv("%wide = arith.extui %result : "
                                        "i{0} to i64\n",
                                        width)
                              .str())
            .str());
    auto *f = host.get<uint64_t(uint64_t, uint64_t)>("f");
    ASSERT_TRUE(f);
    for (uint64_t a : values)
      for (uint64_t b : values) {
        Int x = decode(a, width, op.isSigned),
            y = decode(b, width, op.isSigned);
        auto expected = static_cast<uint64_t>(op.reference(x, y, width));
        ASSERT_EQ(decode(expected, width, false), decode(f(a, b), width, false))
            << op.name << " on i" << width << ": " << int64_t(x) << ", "
            << int64_t(y);
      }
  }
};

TEST_P(IntegerTest, AllOfI1) { check(1, {0, 1}); }

TEST_P(IntegerTest, AllOfI8) {
  std::vector<uint64_t> values;
  for (uint64_t i = 0; i < 256; ++i)
    values.push_back(i);
  check(8, values);
}

TEST_P(IntegerTest, EdgesOfWiderTypes) {
  for (unsigned width : {16, 32, 64}) {
    std::vector<uint64_t> values;
    for (unsigned bit = 0; bit < width; ++bit)
      for (int offset : {-1, 0, 1}) {
        values.push_back((uint64_t(1) << bit) + offset);
        values.push_back(-(uint64_t(1) << bit) + offset);
      }
    for (unsigned i = 0; i < 200; ++i)
      values.push_back(hash(i) >> (i % 64));
    check(width, values);
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, IntegerTest, testing::ValuesIn(integerCases),
                         [](const testing::TestParamInfo<IntegerCase> &info) {
                           return std::string(info.param.name);
                         });

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

TEST(ConversionTest, FloatToIntegerSaturates) {
  for (bool isSigned : {true, false})
    for (unsigned width : {1, 4, 8, 16, 32, 64}) {
      HostFunctions host(
          llvm::formatv(R"(
        func.func @f(%x: f32) -> i64 {{
          %a = arith.{0} %x : f32 to i{1}
          {2}
          return %wide : i64
        })",
                        isSigned ? "fptosi" : "fptoui", width,
                        width == 64 ? "%zero = arith.constant 0 : i64\n"
                                      "%wide = arith.addi %a, %zero : "
                                      "i64\n"
                                    : llvm::formatv("%wide = arith.extui %a : "
                                                    "i{0} to i64\n",
                                                    width)
                                          .str())
              .str());
      auto *f = host.get<uint64_t(float)>("f");
      ASSERT_TRUE(f);
      const Int upper = (Int(1) << (width - isSigned)) - 1;
      const Int lower = isSigned ? -upper - 1 : 0;
      auto check = [&](float x) {
        Int expected = 0;
        if (x >= 0x1p64f)
          expected = upper;
        else if (x <= -0x1p64f)
          expected = lower;
        else if (!std::isnan(x))
          expected = std::clamp(static_cast<Int>(x), lower, upper);
        ASSERT_EQ(decode(static_cast<uint64_t>(expected), width, false),
                  decode(f(x), width, false))
            << x << " to i" << width;
      };
      for (float x :
           {0.0f,    -0.0f,    0.5f,      -0.5f,    1.0f,     -1.0f,   1.5f,
            -1.5f,   7.9f,     -8.9f,     127.9f,   128.0f,   -128.9f, -129.0f,
            255.9f,  256.0f,   0x1p31f,   -0x1p31f, 0x1p32f,  0x1p63f, -0x1p63f,
            0x1p64f, INFINITY, -INFINITY, NAN,      0x1p-149f})
        check(x);
      for (uint64_t i = 0; i < 100000; ++i)
        check(llvm::bit_cast<float>(static_cast<uint32_t>(hash(i))));
    }
}

TEST(ConversionTest, IntegerToBF16RoundsOnce) {
  for (bool isSigned : {true, false})
    for (unsigned width : {1, 4, 8, 16, 32, 64}) {
      HostFunctions host(
          llvm::formatv(R"(
        func.func @f(%x: i64) -> i32 {{
          {2}
          %y = arith.{0} %a : i{1} to bf16
          %bits = arith.bitcast %y : bf16 to i16
          %wide = arith.extui %bits : i16 to i32
          return %wide : i32
        })",
                        isSigned ? "sitofp" : "uitofp", width,
                        width == 64
                            ? "%zero = arith.constant 0 : i64\n"
                              "%a = arith.addi %x, %zero : i64\n"
                            : llvm::formatv("%a = arith.trunci %x : i64 "
                                            "to i{0}\n",
                                            width)
                                  .str())
              .str());
      auto *f = host.get<uint32_t(uint64_t)>("f");
      ASSERT_TRUE(f);
      auto check = [&](uint64_t x) {
        llvm::APFloat expected(llvm::APFloat::BFloat());
        expected.convertFromAPInt(APInt(64, x).trunc(width), isSigned,
                                  llvm::APFloat::rmNearestTiesToEven);
        ASSERT_EQ(expected.bitcastToAPInt().getZExtValue(), f(x))
            << "i" << width << ' ' << x;
      };
      // Ties of bf16, one off, at every exponent: rounding to f32 first makes
      // ties of numbers that are none.
      for (unsigned bit = 8; bit < 64; ++bit)
        for (uint64_t top : {0x101, 0x103, 0x1ff, 0x17f, 0x181})
          for (int offset : {-1, 0, 1}) {
            uint64_t x = (top << (bit - 8)) + offset;
            check(x);
            check(-x);
          }
      for (uint64_t i = 0; i < 20000; ++i)
        check(hash(i) >> (i % 64));
      for (uint64_t x = 0; x < 256; ++x)
        check(x), check(-x);
    }
}

//===----------------------------------------------------------------------===//
// Remainder
//===----------------------------------------------------------------------===//

bool isSame(float expected, float actual) {
  if (std::isnan(expected))
    return std::isnan(actual);
  return llvm::bit_cast<uint32_t>(expected) == llvm::bit_cast<uint32_t>(actual);
}

TEST(RemainderTest, F32IsExact) {
  HostFunctions host(R"(
    func.func @f(%x: f32, %y: f32) -> f32 {
      %r = arith.remf %x, %y : f32
      return %r : f32
    })");
  auto *f = host.get<float(float, float)>("f");
  ASSERT_TRUE(f);
  const float edges[] = {0.0f,
                         -0.0f,
                         1.0f,
                         -3.0f,
                         0x1p-149f,
                         -0x1p-149f,
                         0x1p-126f,
                         0x1.fffffcp-127f,
                         0x1p127f,
                         0x1.fffffep127f,
                         -0x1.fffffep127f,
                         INFINITY,
                         -INFINITY,
                         NAN,
                         0x1.000002p0f,
                         0.1f,
                         10.0f,
                         16777215.0f};
  for (float x : edges)
    for (float y : edges)
      ASSERT_TRUE(isSame(std::fmod(x, y), f(x, y)))
          << std::hexfloat << x << " by " << y << " is " << f(x, y);
  for (uint64_t i = 0; i < 200000; ++i) {
    // Of any size, and of similar size.
    auto x = llvm::bit_cast<float>(static_cast<uint32_t>(hash(i)));
    auto y = llvm::bit_cast<float>(static_cast<uint32_t>(hash(i) >> 32));
    ASSERT_TRUE(isSame(std::fmod(x, y), f(x, y)))
        << std::hexfloat << x << " by " << y << " is " << f(x, y);
    y = std::ldexp(x, -static_cast<int>(i % 30)) * (1 + (i % 7) * 0.1f);
    ASSERT_TRUE(isSame(std::fmod(x, y), f(x, y)))
        << std::hexfloat << x << " by " << y << " is " << f(x, y);
  }
}

TEST(RemainderTest, NarrowTypesAreExact) {
  struct {
    const char *type;
    double (*decode)(unsigned);
    unsigned (*encode)(double);
  } types[] = {{"f16", fromHalf, roundToHalf},
               {"bf16", fromBFloat, roundToBFloat}};
  for (auto &type : types) {
    HostFunctions host(llvm::formatv(R"(
      func.func @f(%x: i32, %y: i32) -> i32 {{
        %a = arith.trunci %x : i32 to i16
        %b = arith.trunci %y : i32 to i16
        %c = arith.bitcast %a : i16 to {0}
        %d = arith.bitcast %b : i16 to {0}
        %e = arith.remf %c, %d : {0}
        %bits = arith.bitcast %e : {0} to i16
        %wide = arith.extui %bits : i16 to i32
        return %wide : i32
      })",
                                     type.type)
                           .str());
    auto *f = host.get<uint32_t(uint32_t, uint32_t)>("f");
    ASSERT_TRUE(f);
    for (uint64_t i = 0; i < 100000; ++i) {
      unsigned a = hash(i) & 0xffff, b = (hash(i) >> 16) & 0xffff;
      double expected = std::fmod(type.decode(a), type.decode(b));
      unsigned actual = f(a, b);
      if (std::isnan(expected))
        ASSERT_TRUE(std::isnan(type.decode(actual))) << type.type << a << b;
      else
        ASSERT_EQ(type.encode(expected), actual) << type.type << a << b;
    }
  }
}

} // namespace
