//===- CompiledCodeTest.cpp - What one compilation leaves -----------------===//

#include "CompiledCode.h"
#include "HashData.h"

#include "llvm/Support/Endian.h"
#include "gtest/gtest.h"

#include <atomic>
#include <climits>
#include <future>
#include <thread>

using namespace llvm;
using namespace tile;
using namespace tile::runtime;
using namespace tile::runtime::test;

namespace {

//===----------------------------------------------------------------------===//
// Made-up kernels
//===----------------------------------------------------------------------===//

SourceLocation makeLocation(HashSequence &hash) {
  return {hash.bytes(hash.below(9)), unsigned(hash.next()),
          unsigned(hash.next())};
}

void fill(CompiledCode &code, HashSequence &hash) {
  code.target = hash.bytes(hash.below(8));
  code.entry = hash.bytes(hash.below(20));
  code.ptx = hash.bytes(hash.below(300));
  code.blockThreads = unsigned(hash.next());
  code.sharedBytes = unsigned(hash.next());
  for (uint64_t i = hash.below(4); i; --i) {
    Remark remark;
    remark.kind = static_cast<Remark::Kind>(hash.below(4));
    remark.name = hash.bytes(hash.below(9));
    remark.category = hash.bytes(hash.below(9));
    remark.function = hash.bytes(hash.below(9));
    remark.location = makeLocation(hash);
    for (uint64_t j = hash.below(3); j; --j)
      remark.fields.push_back(
          {hash.bytes(hash.below(9)), hash.bytes(hash.below(9))});
    code.remarks.push_back(std::move(remark));
  }
  for (uint64_t i = hash.below(3); i; --i)
    code.multiplies.push_back({hash.below(2) == 1, hash.bytes(hash.below(9)),
                               hash.bytes(hash.below(9)), makeLocation(hash)});
}

/// Tensor maps of any content: a code alone does not know its kernel.
void addTensorMaps(CompiledCode &code, HashSequence &hash) {
  for (uint64_t i = hash.below(4); i; --i) {
    TensorMapParameter &map = code.tensorMaps.emplace_back();
    map.parameter = unsigned(hash.next());
    map.argument = unsigned(hash.next());
    for (uint64_t j = hash.below(6); j; --j) {
      map.dims.push_back(unsigned(hash.next()));
      map.box.push_back(unsigned(hash.next()));
    }
    map.swizzle = unsigned(hash.next());
    map.type = hash.bytes(hash.below(9));
    map.fill = hash.bytes(hash.below(9));
  }
}

/// Extents, strides or divisors, kDynamic among them.
std::vector<int64_t> makeList(HashSequence &hash, size_t rank) {
  std::vector<int64_t> list;
  for (size_t i = 0; i < rank; ++i)
    list.push_back(hash.below(3) == 0 ? kDynamic : int64_t(hash.next()));
  return list;
}

KernelDescription makeDescription(HashSequence &hash) {
  KernelDescription description;
  description.name = hash.bytes(hash.below(9));
  description.entry = hash.bytes(hash.below(9));
  description.target = hash.bytes(hash.below(9));
  description.module = hash.bytes(hash.below(300));
  unsigned count = hash.below(5);
  for (unsigned i = 0; i < count; ++i) {
    Parameter parameter;
    parameter.name = hash.bytes(hash.below(9));
    parameter.mlirType = hash.bytes(hash.below(9));
    parameter.isArray = hash.below(2);
    parameter.type = static_cast<ElementType>(hash.below(14));
    size_t rank = parameter.isArray ? hash.below(5) : 0;
    parameter.shape = makeList(hash, rank);
    parameter.strides = makeList(hash, rank);
    parameter.shapeDivisors = makeList(hash, rank);
    parameter.strideDivisors = makeList(hash, rank);
    if (hash.below(2))
      for (size_t dim = 0; dim < rank; ++dim)
        parameter.extents.push_back(hash.bytes(hash.below(5)));
    parameter.isRead = hash.below(2);
    parameter.isWritten = hash.below(2);
    using Kind = KernelParameter::Kind;
    description.abi.push_back(
        {parameter.isArray ? Kind::Pointer : Kind::Scalar, i, 0, 8});
    for (unsigned dim = 0; dim < rank; ++dim)
      description.abi.push_back(
          {hash.below(2) ? Kind::Extent : Kind::Stride, i, dim, 4});
    description.parameters.push_back(std::move(parameter));
  }
  return description;
}

//===----------------------------------------------------------------------===//
// Forms on disk
//===----------------------------------------------------------------------===//

void expectEqual(const SourceLocation &a, const SourceLocation &b) {
  EXPECT_EQ(a.file, b.file);
  EXPECT_EQ(a.line, b.line);
  EXPECT_EQ(a.column, b.column);
}

void expectEqual(const CompiledCode &a, const CompiledCode &b) {
  EXPECT_EQ(a.target, b.target);
  EXPECT_EQ(a.entry, b.entry);
  EXPECT_EQ(a.ptx, b.ptx);
  EXPECT_EQ(a.blockThreads, b.blockThreads);
  EXPECT_EQ(a.sharedBytes, b.sharedBytes);
  ASSERT_EQ(a.tensorMaps.size(), b.tensorMaps.size());
  for (size_t i = 0; i < a.tensorMaps.size(); ++i) {
    const TensorMapParameter &x = a.tensorMaps[i], &y = b.tensorMaps[i];
    EXPECT_EQ(x.parameter, y.parameter);
    EXPECT_EQ(x.argument, y.argument);
    EXPECT_EQ(x.dims, y.dims);
    EXPECT_EQ(x.box, y.box);
    EXPECT_EQ(x.swizzle, y.swizzle);
    EXPECT_EQ(x.type, y.type);
    EXPECT_EQ(x.fill, y.fill);
  }
  ASSERT_EQ(a.remarks.size(), b.remarks.size());
  for (size_t i = 0; i < a.remarks.size(); ++i) {
    const Remark &x = a.remarks[i], &y = b.remarks[i];
    EXPECT_EQ(x.kind, y.kind);
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.category, y.category);
    EXPECT_EQ(x.function, y.function);
    expectEqual(x.location, y.location);
    ASSERT_EQ(x.fields.size(), y.fields.size());
    for (size_t j = 0; j < x.fields.size(); ++j) {
      EXPECT_EQ(x.fields[j].key, y.fields[j].key);
      EXPECT_EQ(x.fields[j].value, y.fields[j].value);
    }
  }
  ASSERT_EQ(a.multiplies.size(), b.multiplies.size());
  for (size_t i = 0; i < a.multiplies.size(); ++i) {
    const Multiply &x = a.multiplies[i], &y = b.multiplies[i];
    EXPECT_EQ(x.isNative, y.isNative);
    EXPECT_EQ(x.atom, y.atom);
    EXPECT_EQ(x.reason, y.reason);
    expectEqual(x.location, y.location);
  }
}

void expectEqual(const KernelDescription &a, const KernelDescription &b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.entry, b.entry);
  EXPECT_EQ(a.target, b.target);
  EXPECT_EQ(a.module, b.module);
  ASSERT_EQ(a.parameters.size(), b.parameters.size());
  for (size_t i = 0; i < a.parameters.size(); ++i) {
    const Parameter &x = a.parameters[i], &y = b.parameters[i];
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.mlirType, y.mlirType);
    EXPECT_EQ(x.isArray, y.isArray);
    EXPECT_EQ(x.type, y.type);
    EXPECT_EQ(x.shape, y.shape);
    EXPECT_EQ(x.strides, y.strides);
    EXPECT_EQ(x.shapeDivisors, y.shapeDivisors);
    EXPECT_EQ(x.strideDivisors, y.strideDivisors);
    EXPECT_EQ(x.extents, y.extents);
    EXPECT_EQ(x.isRead, y.isRead);
    EXPECT_EQ(x.isWritten, y.isWritten);
  }
  ASSERT_EQ(a.abi.size(), b.abi.size());
  for (size_t i = 0; i < a.abi.size(); ++i) {
    EXPECT_EQ(a.abi[i].kind, b.abi[i].kind);
    EXPECT_EQ(a.abi[i].argument, b.abi[i].argument);
    EXPECT_EQ(a.abi[i].dim, b.abi[i].dim);
    EXPECT_EQ(a.abi[i].bytes, b.abi[i].bytes);
  }
}

TEST(SerializeTest, KernelsComeBackAsTheyWere) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    HashSequence hash(seed);
    KernelDescription description = makeDescription(hash);
    CompiledCode code;
    fill(code, hash);
    auto kernel = deserializeKernel(serialize(description, code));
    ASSERT_TRUE(kernel) << seed;
    expectEqual(kernel->first, description);
    expectEqual(*kernel->second, code);
  }
}

TEST(SerializeTest, CodeComesBackAsItWas) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    HashSequence hash(seed);
    CompiledCode code;
    fill(code, hash);
    addTensorMaps(code, hash);
    auto copy = deserializeCode(serialize(code));
    ASSERT_TRUE(copy) << seed;
    expectEqual(**copy, code);
  }
}

TEST(SerializeTest, AssembledCodeComesBackAsItWas) {
  CompiledCode::Assembled assembled;
  assembled.cubin = HashSequence(1).bytes(1000);
  assembled.resources = {11, 22, 33, 44, 55, 66, UINT_MAX};
  auto copy = deserializeAssembled(serialize(assembled));
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->cubin, assembled.cubin);
  EXPECT_EQ(copy->resources.registers, 11u);
  EXPECT_EQ(copy->resources.spillStoreBytes, 22u);
  EXPECT_EQ(copy->resources.spillLoadBytes, 33u);
  EXPECT_EQ(copy->resources.stackBytes, 44u);
  EXPECT_EQ(copy->resources.staticSharedBytes, 55u);
  EXPECT_EQ(copy->resources.dynamicSharedBytes, 66u);
  EXPECT_EQ(copy->resources.threads, UINT_MAX);
}

TEST(SerializeTest, OneFormIsNotReadAsAnother) {
  HashSequence hash(7);
  CompiledCode code;
  fill(code, hash);
  std::string codeText = serialize(code);
  std::string kernelText = serialize(KernelDescription(), code);
  std::string assembledText = serialize(CompiledCode::Assembled());
  EXPECT_FALSE(deserializeKernel(codeText));
  EXPECT_FALSE(deserializeAssembled(codeText));
  EXPECT_FALSE(deserializeCode(kernelText));
  EXPECT_FALSE(deserializeCode(assembledText));
}

TEST(SerializeTest, TextsThatAreCutOrContinuedAreRefused) {
  HashSequence hash(3);
  KernelDescription description = makeDescription(hash);
  CompiledCode code;
  fill(code, hash);
  std::string text = serialize(description, code);
  for (size_t size = 0; size < text.size(); ++size)
    EXPECT_FALSE(deserializeKernel(StringRef(text).take_front(size))) << size;
  EXPECT_FALSE(deserializeKernel(text + '\0'));
  EXPECT_FALSE(deserializeKernel(text + text));
}

/// Whatever is read is written as the same text: there is nothing in it that
/// the writer could not have meant.
/// Returns whether anything was read.
bool expectRefusedOrCanonical(StringRef text) {
  auto kernel = deserializeKernel(text);
  if (kernel) {
    EXPECT_EQ(serialize(kernel->first, *kernel->second), text);
  }
  auto code = deserializeCode(text);
  if (code) {
    EXPECT_EQ(serialize(**code), text);
  }
  auto assembled = deserializeAssembled(text);
  if (assembled) {
    EXPECT_EQ(serialize(*assembled), text);
  }
  return kernel || code || assembled;
}

TEST(SerializeTest, DamagedTextsAreRefusedOrMeanWhatTheySay) {
  constexpr uint64_t kInteresting[] = {
      0, 1, 255, UINT_MAX, uint64_t(1) << 32, uint64_t(INT64_MAX), UINT64_MAX};
  constexpr unsigned kTexts = 20000;
  unsigned read = 0;
  for (uint64_t seed = 0; seed < kTexts; ++seed) {
    HashSequence hash(seed);
    KernelDescription description = makeDescription(hash);
    CompiledCode code;
    fill(code, hash);
    const bool isKernel = hash.below(2);
    if (!isKernel)
      addTensorMaps(code, hash);
    std::string text =
        isKernel ? serialize(description, code) : serialize(code);
    for (uint64_t i = hash.below(4) + 1; i; --i) {
      size_t at = hash.below(text.size());
      switch (hash.below(5)) {
      case 0:
        text[at] ^= char(1 << hash.below(8));
        break;
      case 1:
        text[at] = char(hash.next());
        break;
      case 2: // a number
        if (at + 8 <= text.size())
          support::endian::write64le(
              &text[at], kInteresting[hash.below(std::size(kInteresting))]);
        break;
      case 3:
        text.erase(at, hash.below(20));
        break;
      case 4:
        text.insert(at, hash.bytes(hash.below(20)));
        break;
      }
      if (text.empty())
        text = "x";
    }
    read += expectRefusedOrCanonical(text);
  }
  // Both happen: most of a text is free, but its structure is not.
  EXPECT_GT(read, kTexts / 10);
  EXPECT_LT(read, kTexts / 10 * 9);
}

TEST(SerializeTest, CountsThatTheTextDoesNotHoldTakeNoMemory) {
  // The numbers of tensor maps and of remarks of a code without anything.
  for (size_t field : {8 * 6, 8 * 7}) {
    std::string text = serialize(CompiledCode());
    ASSERT_TRUE(deserializeCode(text));
    for (uint64_t count : {uint64_t(1), uint64_t(1) << 40, UINT64_MAX}) {
      support::endian::write64le(&text[field], count);
      EXPECT_FALSE(deserializeCode(text)) << count;
    }
  }
}

TEST(SerializeTest, ParametersThatDoNotFitAreRefused) {
  auto isRead = [](auto change) {
    KernelDescription description;
    Parameter array;
    array.isArray = true;
    array.shape = array.strides = {kDynamic, 64};
    array.shapeDivisors = array.strideDivisors = {1, 1};
    array.extents = {"M", ""};
    description.parameters = {array, Parameter()};
    using Kind = KernelParameter::Kind;
    description.abi = {{Kind::Pointer, 0, 0, 8},
                       {Kind::Extent, 0, 1, 4},
                       {Kind::Scalar, 1, 0, 2}};
    change(description);
    return deserializeKernel(serialize(description, CompiledCode()))
        .has_value();
  };
  using Description = KernelDescription;
  EXPECT_TRUE(isRead([](Description &) {}));
  EXPECT_TRUE(isRead([](Description &d) { d.parameters[0].extents = {}; }));
  EXPECT_FALSE(isRead([](Description &d) { d.parameters[0].extents = {"M"}; }));
  EXPECT_FALSE(isRead([](Description &d) { d.parameters[0].strides = {1}; }));
  EXPECT_FALSE(
      isRead([](Description &d) { d.parameters[0].shapeDivisors = {}; }));
  EXPECT_FALSE(isRead([](Description &d) {
    d.parameters[0].strideDivisors = {1, 1, 1};
  }));
  EXPECT_FALSE(isRead([](Description &d) { d.parameters[1].shape = {1}; }));
  EXPECT_FALSE(isRead([](Description &d) { d.abi[1].dim = 2; }));
  EXPECT_FALSE(isRead([](Description &d) { d.abi[1].argument = 2; }));
  EXPECT_FALSE(isRead([](Description &d) { d.abi[1].argument = 1; }));
  EXPECT_FALSE(isRead([](Description &d) { d.abi[2].argument = 0; }));
  EXPECT_FALSE(isRead([](Description &d) { d.abi[2].bytes = 3; }));
}

TEST(SerializeTest, TensorMapsThatDoNotFitAreRefused) {
  auto isRead = [](auto change) {
    KernelDescription description;
    Parameter array;
    array.isArray = true;
    array.shape = array.strides = {kDynamic, kDynamic};
    array.shapeDivisors = array.strideDivisors = {1, 1};
    description.parameters = {Parameter(), array};
    using Kind = KernelParameter::Kind;
    description.abi = {{Kind::Scalar, 0, 0, 4}, {Kind::Pointer, 1, 0, 8}};
    CompiledCode code;
    code.tensorMaps = {{2, 1, {0, 1}, {64, 128}, 128, "u8", "zero"},
                       {3, 1, {1, 0}, {16, 64}, 0, "u16", "zero"}};
    change(code.tensorMaps);
    auto kernel = deserializeKernel(serialize(description, code));
    // A variant is read without a description, and compared with it then.
    auto variant = deserializeCode(serialize(code));
    EXPECT_TRUE(variant);
    EXPECT_EQ(fits(**variant, description), kernel.has_value());
    if (kernel)
      expectEqual(*kernel->second, code);
    return kernel.has_value();
  };
  using Maps = std::vector<TensorMapParameter>;
  EXPECT_TRUE(isRead([](Maps &) {}));
  EXPECT_TRUE(isRead([](Maps &maps) { maps.pop_back(); }));
  EXPECT_FALSE(isRead([](Maps &maps) { maps[0].parameter = 1; }));
  EXPECT_FALSE(isRead([](Maps &maps) { maps[1].parameter = 2; }));
  EXPECT_FALSE(isRead([](Maps &maps) { maps[0].argument = 0; }));
  EXPECT_FALSE(isRead([](Maps &maps) { maps[0].argument = 2; }));
  EXPECT_FALSE(isRead([](Maps &maps) { maps[0].dims = {0}; }));
  EXPECT_FALSE(isRead([](Maps &maps) { maps[0].dims = {0, 2}; }));
  EXPECT_FALSE(isRead([](Maps &maps) { maps[0].dims = {0, UINT_MAX}; }));
  EXPECT_FALSE(isRead([](Maps &maps) { maps[0].box = {64, 128, 1}; }));
  EXPECT_FALSE(isRead([](Maps &maps) { maps[0].box = {64, 0}; }));
  EXPECT_FALSE(isRead([](Maps &maps) { maps[0].swizzle = 16; }));
  EXPECT_FALSE(isRead([](Maps &maps) { maps[0].type = "u32"; }));
  EXPECT_FALSE(isRead([](Maps &maps) { maps[0].fill = "one"; }));
}

//===----------------------------------------------------------------------===//
// What devices attach
//===----------------------------------------------------------------------===//

using Assembled = CompiledCode::Assembled;
using AnyExpected = runtime::Expected<std::shared_ptr<void>>;

runtime::Error makeError() {
  return runtime::Error(ErrorCode::Driver, "not this time");
}

TEST(CompiledCodeTest, AssemblesAgainAfterAFailureOnly) {
  CompiledCode code;
  unsigned calls = 0;
  auto make = [&]() -> runtime::Expected<Assembled> {
    if (++calls < 3)
      return makeError();
    return Assembled{"cubin " + std::to_string(calls), {}};
  };
  for (unsigned i = 0; i < 2; ++i) {
    auto failed = code.getAssembled(make);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().getMessage(), "not this time");
  }
  for (unsigned i = 0; i < 3; ++i) {
    auto assembled = code.getAssembled(make);
    ASSERT_TRUE(assembled);
    EXPECT_EQ((*assembled)->cubin, "cubin 3");
  }
  EXPECT_EQ(calls, 3u);
}

TEST(CompiledCodeTest, ThreadsWaitForOneThatAssembles) {
  CompiledCode code;
  std::atomic<unsigned> running{0}, most{0}, calls{0}, wrong{0};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      auto assembled = code.getAssembled([&]() -> runtime::Expected<Assembled> {
        most = std::max<unsigned>(most, ++running);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        --running;
        // The first ones fail; the next then tries.
        if (++calls < 4)
          return makeError();
        return Assembled{"cubin", {}};
      });
      if (assembled && (*assembled)->cubin != "cubin")
        ++wrong;
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(most, 1u);
  EXPECT_EQ(calls, 4u);
  EXPECT_EQ(wrong, 0u);
}

TEST(CompiledCodeTest, EachDeviceHasItsOwn) {
  CompiledCode code;
  int devices[3];
  unsigned calls = 0;
  auto load = [&]() -> AnyExpected {
    return std::static_pointer_cast<void>(std::make_shared<unsigned>(++calls));
  };
  for (unsigned round = 0; round < 2; ++round)
    for (unsigned i = 0; i < 3; ++i) {
      AnyExpected loaded = code.getLoaded(&devices[i], load);
      ASSERT_TRUE(loaded);
      EXPECT_EQ(*static_cast<unsigned *>(loaded->get()), i + 1);
    }
  EXPECT_EQ(calls, 3u);
}

TEST(CompiledCodeTest, LoadsAgainAfterAFailureOnly) {
  CompiledCode code;
  unsigned calls = 0;
  auto load = [&]() -> AnyExpected {
    if (++calls == 1)
      return makeError();
    return std::static_pointer_cast<void>(std::make_shared<int>(5));
  };
  EXPECT_FALSE(code.getLoaded(nullptr, load));
  EXPECT_TRUE(code.getLoaded(nullptr, load));
  EXPECT_TRUE(code.getLoaded(nullptr, load));
  EXPECT_EQ(calls, 2u);
}

TEST(CompiledCodeTest, DevicesLoadAtTheSameTime) {
  CompiledCode code;
  int first, second;
  std::promise<void> started, finish;
  std::thread slow([&] {
    (void)!code.getLoaded(&first, [&]() -> AnyExpected {
      started.set_value();
      finish.get_future().wait();
      return std::static_pointer_cast<void>(std::make_shared<int>(1));
    });
  });
  started.get_future().wait();
  // Would wait for ever if it waited for the other device.
  AnyExpected loaded = code.getLoaded(&second, []() -> AnyExpected {
    return std::static_pointer_cast<void>(std::make_shared<int>(2));
  });
  EXPECT_TRUE(loaded);
  finish.set_value();
  slow.join();
}

TEST(CompiledCodeTest, WhatIsLoadedGoesWithTheCode) {
  auto value = std::make_shared<int>(1);
  std::weak_ptr<int> alive = value;
  {
    CompiledCode code;
    ASSERT_TRUE(code.getLoaded(nullptr, [&]() -> AnyExpected {
      return std::static_pointer_cast<void>(value);
    }));
    value.reset();
    EXPECT_FALSE(alive.expired());
  }
  EXPECT_TRUE(alive.expired());
}

} // namespace
