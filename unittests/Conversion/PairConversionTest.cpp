//===- PairConversionTest.cpp - Decoding in registers ---------------------===//
//
// What the sequences that decode codes to pairs of bf16 and f16 compute, lane
// by lane, against the tables of tile/Formats: all codes of every format, in
// both orders, with and without the conversions that only some targets have.
//
//===----------------------------------------------------------------------===//

#include "../../lib/Conversion/TileToNVVM/FormatConversion.h"
#include "LaneSimulator.h"

#include "mlir/Pass/Pass.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "tile/Codegen/PtxEmitter.h"
#include "tile/Target/TargetInfo.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <vector>

using namespace tile;

namespace {

constexpr unsigned numThreads = 256;

using Values = llvm::SmallVector<mlir::Value>;
using Words = std::vector<uint32_t>;

uint32_t hash(uint32_t x) {
  x = (x + 1) * 0x9E3779B1u;
  x ^= x >> 15;
  x *= 0x85EBCA77u;
  return x ^ x >> 13;
}

/// Runs `emit` for each thread on `numIn` words of `input` and returns the
/// words that it makes, thread by thread.
Words run(llvm::ArrayRef<uint32_t> input, unsigned numIn,
          llvm::function_ref<Values(Emitter &, Values)> body) {
  mlir::DialectRegistry registry;
  registerPtxTranslations(registry);
  registry.insert<mlir::arith::ArithDialect, mlir::LLVM::LLVMDialect,
                  mlir::NVVM::NVVMDialect>();
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  mlir::OpBuilder builder(&context);
  mlir::Location loc = builder.getUnknownLoc();
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());
  mlir::Type pointer = mlir::LLVM::LLVMPointerType::get(&context, 1);
  auto kernel = mlir::LLVM::LLVMFuncOp::create(
      builder, loc, "k",
      mlir::LLVM::LLVMFunctionType::get(mlir::LLVM::LLVMVoidType::get(&context),
                                        {pointer, pointer}));
  kernel->setAttr(mlir::NVVM::NVVMDialect::getKernelFuncAttrName(),
                  builder.getUnitAttr());
  builder.setInsertionPointToStart(kernel.addEntryBlock(builder));
  Emitter emit(builder, loc);
  auto getPlace = [&](mlir::Value base, unsigned count, unsigned index) {
    mlir::Value place =
        emit.add(emit.mul(emit.threadId(), emit.i32(count)), emit.i32(index));
    return mlir::LLVM::GEPOp::create(emit.builder, loc, pointer, emit.i32(),
                                     base,
                                     llvm::ArrayRef<mlir::LLVM::GEPArg>{place});
  };
  Values words;
  for (unsigned i = 0; i < numIn; ++i)
    words.push_back(
        mlir::LLVM::LoadOp::create(emit.builder, loc, emit.i32(),
                                   getPlace(kernel.getArgument(0), numIn, i)));
  Values results = body(emit, words);
  for (unsigned i = 0; i < results.size(); ++i)
    mlir::LLVM::StoreOp::create(
        emit.builder, loc, results[i],
        getPlace(kernel.getArgument(1), results.size(), i));
  mlir::LLVM::ReturnOp::create(emit.builder, loc, mlir::ValueRange());

  Words output(numThreads * results.size());
  mlir::PassManager passes(&context);
  passes.addPass(mlir::createArithToLLVMConversionPass());
  if (failed(passes.run(*module))) {
    ADD_FAILURE() << "cannot lower";
    return output;
  }
  const TargetInfo *target = *findTarget("sm_120a");
  llvm::LLVMContext llvmContext;
  auto ir = emitLlvmIr(*module, *target, 88, llvmContext);
  if (!ir) {
    ADD_FAILURE() << llvm::toString(ir.takeError());
    return output;
  }
  auto simulator = LaneSimulator::create(**ir);
  if (!simulator) {
    ADD_FAILURE() << llvm::toString(simulator.takeError());
    return output;
  }
  Words in(input);
  auto asBytes = [](Words &words) {
    return llvm::MutableArrayRef<uint8_t>(
        reinterpret_cast<uint8_t *>(words.data()), 4 * words.size());
  };
  llvm::Error error =
      (*simulator)
          ->launch("k", {1, 1, 1}, {numThreads, 1, 1}, 0,
                   {LaneArgument::getBuffer(asBytes(in), "in", false),
                    LaneArgument::getBuffer(asBytes(output), "out", true)});
  if (error)
    ADD_FAILURE() << llvm::toString(std::move(error));
  return output;
}

/// Whether `code` is `value` in `format`; NaN has many codes.
bool isCodeOf(ElementFormat format, uint32_t code, double value) {
  if (std::isnan(value))
    return std::isnan(decode(format, code));
  return code == encode(format, value, Rounding::NearestEven, false);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// Any codes, all of them among 8 * 256.
Words makeCodes(ElementFormat format) {
  unsigned perThread = getFormatInfo(format).bits / 4;
  Words words(numThreads * perThread);
  for (unsigned i = 0; i < words.size(); ++i)
    words[i] = hash(i);
  // Byte 0 of the first word counts.
  for (unsigned thread = 0; thread < numThreads; ++thread)
    words[thread * perThread] =
        (words[thread * perThread] & ~0xFFu) | (thread & 0xFF);
  return words;
}

void checkElements(ElementFormat format, ElementFormat multiplicand,
                   PairOrder order, Bias bias, const DecodeOptions &options) {
  SCOPED_TRACE(getFormatInfo(format).name.str() + " to " +
               getFormatInfo(multiplicand).name.str() +
               (order == PairOrder::Natural ? ", natural" : ", interleaved") +
               (bias == Bias::Kept ? ", bias kept" : ""));
  unsigned bits = getFormatInfo(format).bits, perThread = bits / 4;
  Words codes = makeCodes(format);
  Words pairs = run(codes, perThread, [&](Emitter &emit, Values words) {
    return Values(llvm::ArrayRef<mlir::Value>(decodeToPairs(
        emit, format, words, multiplicand, order, bias, options)));
  });
  double factor = bias == Bias::Kept
                      ? std::ldexp(1.0, getKeptBias(format, multiplicand))
                      : 1.0;
  unsigned wrong = 0;
  for (unsigned thread = 0; thread < numThreads; ++thread)
    for (unsigned i = 0; i < 8; ++i) {
      uint32_t word = codes[thread * perThread + i * bits / 32];
      uint32_t code = word >> i * bits % 32 & ((1u << bits) - 1);
      bool isNatural = order == PairOrder::Natural;
      unsigned pair = isNatural ? i / 2 : i % 4,
               half = isNatural ? i % 2 : i / 4;
      uint32_t result = pairs[4 * thread + pair] >> 16 * half & 0xFFFF;
      double expected = decode(format, code) * factor;
      if (!isCodeOf(multiplicand, result, expected) && ++wrong <= 4)
        ADD_FAILURE() << "code " << code << " as element " << i << " gives "
                      << decode(multiplicand, result) << ", expected "
                      << expected;
    }
  EXPECT_EQ(wrong, 0u);
}

TEST(PairConversionTest, Elements) {
  for (ElementFormat format : {ElementFormat::F4E2M1FN, ElementFormat::F8E4M3FN,
                               ElementFormat::F8E5M2})
    for (ElementFormat multiplicand : {ElementFormat::BF16, ElementFormat::F16})
      for (PairOrder order : {PairOrder::Natural, PairOrder::Interleaved})
        for (Bias bias : {Bias::Undone, Bias::Kept})
          for (bool useCvt : {false, true}) {
            DecodeOptions options;
            options.fp8 = useCvt;
            options.fp4 =
                useCvt ? DecodeOptions::Cvt::Always : DecodeOptions::Cvt::Never;
            checkElements(format, multiplicand, order, bias, options);
            options.bf16 = true;
            checkElements(format, multiplicand, order, bias, options);
          }
}

TEST(PairConversionTest, ScalesAsElements) {
  for (bool useCvt : {false, true}) {
    DecodeOptions options;
    options.e8m0 = useCvt;
    checkElements(ElementFormat::F8E8M0FNU, ElementFormat::BF16,
                  PairOrder::Natural, Bias::Undone, options);
  }
}

TEST(PairConversionTest, KeptBias) {
  EXPECT_EQ(getKeptBias(ElementFormat::F4E2M1FN, ElementFormat::BF16), -126);
  EXPECT_EQ(getKeptBias(ElementFormat::F4E2M1FN, ElementFormat::F16), -14);
  EXPECT_EQ(getKeptBias(ElementFormat::F8E4M3FN, ElementFormat::BF16), 0);
  EXPECT_EQ(
      getLargestScaleExponent(ElementFormat::F8E4M3FN, ElementFormat::BF16),
      119);
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

/// Thread t has code t in byte `first` of one word and a permutation of the
/// codes in byte `second` of another, or of the same.
void checkScales(ElementFormat scale, ElementFormat multiplicand, int exponent,
                 unsigned first, unsigned second, bool sameWord,
                 const DecodeOptions &options) {
  SCOPED_TRACE(getFormatInfo(scale).name.str() + " times 2^" +
               std::to_string(exponent) + " to " +
               getFormatInfo(multiplicand).name.str() + " from bytes " +
               std::to_string(first) + " and " + std::to_string(second));
  Words words(2 * numThreads);
  auto put = [](uint32_t &word, unsigned byte, uint32_t code) {
    word = (word & ~(0xFFu << 8 * byte)) | code << 8 * byte;
  };
  auto secondCode = [](unsigned thread) { return (thread * 37 + 11) & 0xFF; };
  for (unsigned thread = 0; thread < numThreads; ++thread) {
    uint32_t *own = &words[2 * thread];
    own[0] = hash(2 * thread);
    own[1] = hash(2 * thread + 1);
    put(own[sameWord ? 0 : 1], second, secondCode(thread));
    put(own[0], first, thread);
  }
  bool isOne = sameWord && first == second;
  Words pairs = run(words, 2, [&](Emitter &emit, Values words) {
    return Values(llvm::ArrayRef<mlir::Value>(decodeScalePairs(
        emit, scale, {words[0], first}, {words[sameWord ? 0 : 1], second},
        multiplicand, exponent, options)));
  });
  unsigned wrong = 0;
  for (unsigned thread = 0; thread < numThreads; ++thread)
    for (unsigned i = 0; i < 2; ++i) {
      uint32_t code = i == 0 || isOne ? thread : secondCode(thread);
      if (scale == ElementFormat::F8E4M3FN)
        code &= 0x7F;
      double expected = std::ldexp(decode(scale, code), exponent);
      uint32_t pair = pairs[2 * thread + i];
      if ((isCodeOf(multiplicand, pair & 0xFFFF, expected) &&
           pair >> 16 == (pair & 0xFFFF)) ||
          ++wrong > 4)
        continue;
      ADD_FAILURE() << "code " << code << " gives "
                    << decode(multiplicand, pair & 0xFFFF) << " and "
                    << decode(multiplicand, pair >> 16) << ", expected "
                    << expected;
    }
  EXPECT_EQ(wrong, 0u);
}

TEST(PairConversionTest, Scales) {
  struct Place {
    unsigned first, second;
    bool sameWord;
  };
  const Place places[] = {{0, 2, true},  {1, 3, true},  {3, 0, true},
                          {0, 1, true},  {2, 3, true},  {1, 2, true},
                          {2, 2, true},  {0, 0, false}, {1, 3, false},
                          {3, 2, false}, {0, 2, false}};
  for (const Place &place : places) {
    auto check = [&](ElementFormat scale, ElementFormat multiplicand,
                     int exponent, const DecodeOptions &options = {}) {
      checkScales(scale, multiplicand, exponent, place.first, place.second,
                  place.sameWord, options);
    };
    for (int exponent : {-8, 0, 7, 8, 118, 119})
      check(ElementFormat::F8E4M3FN, ElementFormat::BF16, exponent);
    for (int exponent : {-8, 0, 7})
      check(ElementFormat::F8E4M3FN, ElementFormat::F16, exponent);
    DecodeOptions cvt;
    cvt.e8m0 = cvt.bf16 = true;
    for (int exponent : {-8, 0, 119})
      check(ElementFormat::F8E4M3FN, ElementFormat::BF16, exponent, cvt);
    check(ElementFormat::F8E8M0FNU, ElementFormat::BF16, 0);
    check(ElementFormat::F8E8M0FNU, ElementFormat::BF16, 0, cvt);
  }
}

/// A hoisted product is the scaled value times 2^-8, for all codes of both.
TEST(PairConversionTest, HoistedProducts) {
  constexpr ElementFormat bf16 = ElementFormat::BF16;
  Words words(2 * numThreads);
  for (unsigned thread = 0; thread < numThreads; ++thread) {
    words[2 * thread] = 0xFEDCBA98;
    words[2 * thread + 1] = thread;
  }
  Words products = run(words, 2, [&](Emitter &emit, Values words) {
    std::array<mlir::Value, 4> pairs =
        decodeToPairs(emit, ElementFormat::F4E2M1FN, words[0], bf16,
                      PairOrder::Natural, Bias::Kept);
    mlir::Value scale =
        decodeScalePairs(emit, ElementFormat::F8E4M3FN, {words[1], 0},
                         {words[1], 0}, bf16, 118)[0];
    for (mlir::Value &pair : pairs)
      pair = multiplyPairs(emit, bf16, pair, scale);
    return Values(llvm::ArrayRef<mlir::Value>(pairs));
  });
  for (unsigned thread = 0; thread < numThreads; ++thread)
    for (unsigned i = 0; i < 8; ++i) {
      double expected = decode(ElementFormat::F4E2M1FN, 8 + i) *
                        decode(ElementFormat::F8E4M3FN, thread & 0x7F) / 256;
      uint32_t result = products[4 * thread + i / 2] >> 16 * (i & 1) & 0xFFFF;
      EXPECT_TRUE(isCodeOf(bf16, result, expected))
          << "FP4 code " << 8 + i << ", scale code " << thread;
    }
}

} // namespace
