//===- KernelTest.cpp - Kernels from host code ----------------------------===//

#include "RuntimeFixture.h"

#include <fstream>
#include <thread>

using namespace tile::runtime;
using namespace tile::runtime::test;

namespace {

class KernelTest : public RuntimeTest {
protected:
  Expected<Kernel> compileScale(CompileOptions options = {}) {
    if (options.target.empty())
      options.target = "sm_80";
    return makeCompiler().compile(kScaleKernel, options, "scale.mlir");
  }
};

//===----------------------------------------------------------------------===//
// What a kernel tells of itself
//===----------------------------------------------------------------------===//

TEST_F(KernelTest, DescribesItsParameters) {
  Expected<Kernel> kernel =
      makeCompiler().compile(kLinearKernel, getLinearOptions(), "linear.mlir");
  ASSERT_TRUE(bool(kernel)) << kernel.error().str();
  EXPECT_EQ(kernel->getEntry(), "linear");
  EXPECT_EQ(kernel->getTarget(), "sm_120a");
  const std::vector<Parameter> &parameters = kernel->getParameters();
  ASSERT_EQ(parameters.size(), 5u);
  const char *names[] = {"z", "x", "y", "xs", "ys"};
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(parameters[i].name, names[i]);
    EXPECT_TRUE(parameters[i].isArray);
    EXPECT_EQ(parameters[i].isWritten, i == 0);
    EXPECT_EQ(parameters[i].isRead, i != 0);
    EXPECT_EQ(parameters[i].shape, (std::vector<int64_t>{kDynamic, kDynamic}));
    EXPECT_EQ(parameters[i].strides, (std::vector<int64_t>{kDynamic, 1}));
  }
  EXPECT_EQ(parameters[1].type, ElementType::F4E2M1FNx2);
  EXPECT_EQ(parameters[1].extents, (std::vector<std::string>{"M", "K/2"}));
  EXPECT_EQ(parameters[3].mlirType, "memref<?x?xf8E4M3FN, strided<[?, 1]>>");
}

TEST_F(KernelTest, TellsHowItMultiplies) {
  Compiler compiler = makeCompiler();
  for (auto [target, native] : {std::pair("sm_120a", true), {"sm_80", false}}) {
    Expected<Kernel> kernel =
        compiler.compile(kLinearKernel, getLinearOptions(target), "k.mlir");
    ASSERT_TRUE(bool(kernel)) << kernel.error().str();
    ASSERT_EQ(kernel->getMultiplies().size(), 1u);
    const Multiply &multiply = kernel->getMultiplies().front();
    EXPECT_EQ(multiply.isNative, native);
    EXPECT_NE(multiply.reason, "");
    EXPECT_EQ(multiply.location.line, 29u);
    const bool hasIt =
        kernel->getPtx().find("block_scale") != std::string::npos;
    EXPECT_EQ(hasIt, native);
    EXPECT_NE(kernel->getPtx().find(".reqntid " +
                                    std::to_string(kernel->getBlockThreads())),
              std::string::npos);
  }
}

TEST_F(KernelTest, ShowsItsStages) {
  std::vector<std::string> seen;
  CompileOptions options;
  options.onStage = [&](const Stage &stage) { seen.push_back(stage.name); };
  Expected<Kernel> kernel = compileScale(options);
  ASSERT_TRUE(bool(kernel)) << kernel.error().str();
  const std::vector<std::string> names = {"source", "layouts", "nvvm", "llvm",
                                          "ptx"};
  EXPECT_EQ(seen, names);
  Expected<std::vector<Stage>> stages = kernel->getStages();
  ASSERT_TRUE(bool(stages)) << stages.error().str();
  ASSERT_EQ(stages->size(), 5u);
  EXPECT_EQ(stages->back().text, kernel->getPtx());
  EXPECT_NE((*stages)[0].text.find("tile.load"), std::string::npos);
  EXPECT_NE((*stages)[1].text.find("#tile.layout"), std::string::npos);
  EXPECT_NE((*stages)[2].text.find("llvm.func"), std::string::npos);
  EXPECT_NE((*stages)[3].text.find("define"), std::string::npos);
  EXPECT_EQ(seen.size(), 5u);
}

//===----------------------------------------------------------------------===//
// Mistakes in a kernel or its options
//===----------------------------------------------------------------------===//

TEST_F(KernelTest, SaysWhatIsWrongWithAKernel) {
  Compiler compiler = makeCompiler();
  auto check = [&](const char *text, CompileOptions options,
                   ErrorCode code) -> std::string {
    if (options.target.empty())
      options.target = "sm_80";
    Expected<Kernel> kernel = compiler.compile(text, options, "k.mlir");
    if (kernel)
      return "success";
    EXPECT_EQ(kernel.error().getCode(), code) << kernel.error().str();
    return kernel.error().str();
  };
  const std::string message =
      check("func.func @f() attributes {tile.kernel} {\n  foo.bar\n}", {},
            ErrorCode::InvalidKernel);
  EXPECT_EQ(message.substr(0, message.find("\nk.mlir:2:3: note")),
            "k.mlir is not a valid module\n"
            "k.mlir:2:3: error: Dialect `foo' not found for custom op "
            "'foo.bar'");
  EXPECT_EQ(check("func.func private @f()", {}, ErrorCode::InvalidKernel),
            "k.mlir: expects a kernel, a func.func with 'tile.kernel', but got "
            "none");
  EXPECT_EQ(check("", {}, ErrorCode::InvalidKernel),
            "k.mlir: expects a kernel, a func.func with 'tile.kernel', but got "
            "none");
  const char *two = "func.func @f() attributes {tile.kernel} { return }\n"
                    "func.func @g() attributes {tile.kernel} { return }";
  EXPECT_EQ(check(two, {}, ErrorCode::InvalidArgument),
            "entry: k.mlir has several kernels; choose one of 'f', 'g'");
  CompileOptions options;
  options.entry = "h";
  EXPECT_EQ(check(two, options, ErrorCode::NotFound),
            "entry: k.mlir has no kernel 'h', but 'f', 'g'");
  EXPECT_EQ(check("func.func @f(%x: memref<?xf32>) attributes {tile.kernel} {\n"
                  "  memref.assume_alignment %x, 16 : memref<?xf32>\n"
                  "  return\n}",
                  {}, ErrorCode::InvalidKernel),
            "kernel 'f' does not compile for sm_80\n"
            "k.mlir:2:3: error: 'memref.assume_alignment' op is not allowed in "
            "a kernel");
  EXPECT_EQ(check(kLinearKernel, {}, ErrorCode::InvalidKernel),
            "k.mlir:13:26: error: no value for 'BK'; give one with constant "
            "BK=VALUE");
  options = getLinearOptions();
  options.constants["BQ"] = "1";
  EXPECT_EQ(check(kLinearKernel, options, ErrorCode::InvalidKernel),
            "constant BQ=1 is not used: k.mlir has no ${BQ}");
  options.constants.erase("BQ");
  options.constants["BM"] = "64.0";
  const std::string parsed =
      check(kLinearKernel, options, ErrorCode::InvalidKernel);
  EXPECT_NE(parsed.find("k.mlir is not a valid module with BK="),
            std::string::npos)
      << parsed;
  EXPECT_NE(parsed.find("BM=64.0"), std::string::npos) << parsed;
  options.constants["1"] = "1";
  EXPECT_EQ(check(kLinearKernel, options, ErrorCode::InvalidArgument),
            "constants: expects the name of a constant to be an identifier, "
            "but got '1'");
}

TEST_F(KernelTest, SaysWhatIsWrongWithOptions) {
  Compiler compiler = makeCompiler();
  auto check = [&](const CompileOptions &options, ErrorCode code) {
    Expected<Kernel> kernel =
        compiler.compile(kScaleKernel, options, "scale.mlir");
    if (kernel)
      return std::string("success");
    EXPECT_EQ(kernel.error().getCode(), code);
    return kernel.error().getMessage();
  };
  EXPECT_NE(check({}, ErrorCode::InvalidArgument).find("expects a target"),
            std::string::npos);
  CompileOptions options;
  options.target = "sm_75";
  EXPECT_NE(check(options, ErrorCode::NotFound).find("sm_80"),
            std::string::npos);
  options.target = "sm_80";
  options.numWarps = 3;
  EXPECT_EQ(check(options, ErrorCode::InvalidArgument),
            "expects num-warps to be a power of two from 1 to 32, but got 3");
  options.numWarps = 0;
  options.bindings["what"] = 1;
  EXPECT_EQ(check(options, ErrorCode::InvalidArgument),
            "bindings: kernel 'scale' has no argument 'what', but 'z', 'x', "
            "'scale', 'bias'");
  options.bindings.clear();
  for (int64_t value : {int64_t(1) << 32, -(int64_t(1) << 31) - 1}) {
    options.bindings["bias"] = value;
    EXPECT_EQ(
        check(options, ErrorCode::InvalidArgument),
        "bindings: argument 'bias' expects a value of type i32, but got " +
            std::to_string(value));
  }
  options.bindings = {{"x", 1}};
  EXPECT_EQ(check(options, ErrorCode::InvalidArgument),
            "bindings: argument 'x' is of type memref<?x?xf32, strided<[?, "
            "1]>>, not an integer");
  options.bindings.clear();
  options.shapes["x"] = {16};
  EXPECT_EQ(check(options, ErrorCode::InvalidArgument),
            "shapes: argument 'x' expects 2 extents (memref<?x?xf32, "
            "strided<[?, 1]>>), but got 1");
  options.shapes["x"] = {16, -1};
  EXPECT_EQ(check(options, ErrorCode::InvalidArgument),
            "shapes: argument 'x' expects extent 1 not to be negative, but got "
            "-1");
  options.shapes = {{"bias", {16}}};
  EXPECT_EQ(check(options, ErrorCode::InvalidArgument),
            "shapes: argument 'bias' is of type i32, not an array");
  options.shapes.clear();
  options.numStages = 9;
  EXPECT_EQ(check(options, ErrorCode::InvalidArgument),
            "expects num-stages to be at most 8, but got 9");
  // The reference needs no target.
  options = {};
  options.device = Device::reference();
  EXPECT_EQ(check(options, ErrorCode::InvalidArgument), "success");
}

TEST_F(KernelTest, ReadsFiles) {
  Compiler compiler = makeCompiler();
  CompileOptions options;
  options.target = "sm_80";
  const std::string path = (folder / "scale.mlir").string();
  Expected<Kernel> kernel = compiler.compileFile(path, options);
  ASSERT_FALSE(bool(kernel));
  EXPECT_EQ(kernel.error().getCode(), ErrorCode::NotFound);
  EXPECT_EQ(kernel.error().getMessage(),
            "cannot read '" + path + "': No such file or directory");
  EXPECT_EQ(getMessage(compiler.compileFile(folder.string(), options)),
            "cannot read '" + folder.string() + "': Is a directory");
  std::ofstream(path) << kScaleKernel;
  EXPECT_EQ(getMessage(compiler.compileFile(path, options)), "success");
}

//===----------------------------------------------------------------------===//
// Arguments of a launch
//===----------------------------------------------------------------------===//

TEST_F(KernelTest, SaysWhatIsWrongWithArguments) {
  Expected<Kernel> kernel = compileScale();
  ASSERT_TRUE(bool(kernel)) << kernel.error().str();
  alignas(16) static float memory[64 * 64];
  const TensorRef good(memory, ElementType::F32, {16, 32});
  for (const Device &device : {Device::reference(), *Device::emulator()}) {
    auto launch = [&](const std::vector<Argument> &arguments,
                      Grid grid = Grid()) {
      return getMessage(kernel->launchList(device, grid, arguments));
    };
    EXPECT_EQ(launch({good, good}),
              "kernel 'scale' expects 4 arguments, but got 2");
    EXPECT_EQ(launch({1.0f, good, 1.0f, 1}),
              "argument 0 (z): expects an array (memref<?x?xf32, strided<[?, "
              "1]>>), but got the float 1.000000");
    EXPECT_EQ(launch({good, good, good, 1}),
              "argument 2 (scale): expects a scalar of type f32, but got an "
              "array f32[16, 32]");
    EXPECT_EQ(launch({good, good, 1.0f, 2.0f}),
              "argument 3 (bias): expects an integer of type i32, but got the "
              "float 2.000000");
    EXPECT_EQ(launch({good, good, 1.0f, int64_t(1) << 32}),
              "argument 3 (bias): expects an integer of type i32, but got the "
              "integer 4294967296, which has more than 32 bits");
    EXPECT_EQ(launch({good, good, 1.0f, ~uint64_t(0)}),
              "argument 3 (bias): expects an integer of type i32, but got the "
              "integer 18446744073709551615, which has more than 32 bits");
    EXPECT_EQ(
        launch({good, TensorRef(memory, ElementType::I32, {16, 32}), 1, 1}),
        "argument 1 (x): expects elements of type f32, but got i32[16, "
        "32]");
    EXPECT_EQ(launch({good, TensorRef(memory, ElementType::F32, {16}), 1, 1}),
              "argument 1 (x): expects 2 dimensions (memref<?x?xf32, "
              "strided<[?, 1]>>), but got f32[16]");
    EXPECT_EQ(
        launch({good, TensorRef(memory, ElementType::F32, {16, 32}, {64, 2}), 1,
                1}),
        "argument 1 (x): expects stride 1 to be 1, but got 2; copy the array "
        "so that its rows are contiguous");
    EXPECT_EQ(
        launch({good, TensorRef(memory, ElementType::F32, {-1, 32}), 1, 1}),
        "argument 1 (x): expects extents and strides that are not "
        "negative, but got extent -1 and stride 32 in dimension 0");
    EXPECT_EQ(
        launch({good, TensorRef(memory + 1, ElementType::F32, {16, 32}), 1, 1}),
        "argument 1 (x): expects a base pointer aligned to 16 bytes, but "
        "got one that is 4 bytes past; copy the array to memory that is");
    EXPECT_EQ(launch({good,
                      TensorRef(static_cast<void *>(nullptr), ElementType::F32,
                                {16, 32}),
                      1, 1}),
              "argument 1 (x): expects memory, but got a null pointer");
    EXPECT_EQ(launch({good,
                      TensorRef(memory, ElementType::F32,
                                {int64_t(1) << 40, int64_t(1) << 40}),
                      1, 1})
                  .substr(0, 56),
              "argument 1 (x): expects at most 2^63 - 1 bytes, but got ");
    const void *constant = memory;
    EXPECT_EQ(
        launch({TensorRef(constant, ElementType::F32, {16, 32}), good, 1, 1}),
        "argument 0 (z): the kernel writes this array, but it is "
        "read-only");
    EXPECT_EQ(
        launch({good, TensorRef(constant, ElementType::F32, {16, 32}), 1, 1}),
        "success");
    TensorRef elsewhere = good;
    elsewhere.place = {MemoryPlace::Kind::Cuda, 1};
    EXPECT_EQ(launch({good, elsewhere, 1, 1}),
              "argument 1 (x): expects host memory on " + device.getName() +
                  ", but got memory of cuda:1");
    EXPECT_EQ(
        launch({good, good, 1, 1}, Grid(0)),
        "grid: expects dimension 0 to be from 1 to 2147483647, but got 0");
    EXPECT_EQ(launch({good, good, 1, 1}, Grid(1, 65536)),
              "grid: expects dimension 1 to be from 1 to 65535, but got 65536");
    // No element, no memory.
    EXPECT_EQ(launch({TensorRef(static_cast<void *>(nullptr), ElementType::F32,
                                {0, 32}),
                      good, 1, 1}),
              "success");
  }
  LaunchOptions options;
  options.accumulate = "wide";
  EXPECT_EQ(getMessage(kernel->launchList(Device::reference(), Grid(),
                                          {good, good, 1, 1}, options)),
            "accumulate: expects 'exact' or 'hardware', but got 'wide'");
  EXPECT_EQ(getMessage(kernel->launch(*Device::emulator("sm_90"), Grid(), good,
                                      good, 1, 1)),
            "kernel 'scale' is compiled for sm_80, but the device is emulator "
            "(sm_90)");
}

TEST_F(KernelTest, FindsArraysThatDoNotBelongTogether) {
  Expected<Kernel> kernel =
      makeCompiler().compile(kLinearKernel, getLinearOptions(), "linear.mlir");
  ASSERT_TRUE(bool(kernel)) << kernel.error().str();
  LinearData data(16, 16, 64);
  auto launchWith = [&](size_t index, const TensorRef &array) {
    std::vector<Argument> arguments = data.getArguments();
    arguments[index] = array;
    return getMessage(
        kernel->launchList(*Device::emulator(), Grid(), arguments));
  };
  // Values where pairs are expected.
  std::vector<uint8_t> bytes(16 * 64);
  EXPECT_EQ(launchWith(2, TensorRef(bytes.data(), ElementType::I8, {16, 64})),
            "argument 2 (y): expects extent 1 to be 32, K/2 with K = 64 from "
            "argument "
            "1 (x), but got 64");
  // Scales in another layout.
  EXPECT_EQ(
      launchWith(4, TensorRef(bytes.data(), ElementType::F8E4M3FN, {4, 16})),
      "argument 4 (ys): expects extent 0 to be 16, N as in argument 0 (z), but "
      "got 4");
  EXPECT_EQ(
      launchWith(3, TensorRef(bytes.data(), ElementType::F8E8M0FNU, {16, 4})),
      "argument 3 (xs): expects elements of type f8E4M3FN, but got "
      "f8E8M0FNU[16, 4]");
  // Bytes stand in for formats that other libraries lack.
  EXPECT_EQ(launchWith(3, TensorRef(data.xs.data(), ElementType::I8, {16, 4})),
            "success");
}

TEST_F(KernelTest, NamesValuesGivenForPairs) {
  CompileOptions options = getLinearOptions();
  options.shapes = {{"x", {kDynamic, 32}}};
  Expected<Kernel> kernel =
      makeCompiler().compile(kLinearKernel, options, "linear.mlir");
  ASSERT_TRUE(bool(kernel)) << kernel.error().str();
  EXPECT_EQ(kernel->getParameters()[1].shape,
            (std::vector<int64_t>{kDynamic, 32}));
  LinearData data(16, 16, 64);
  std::vector<Argument> arguments = data.getArguments();
  std::vector<uint8_t> bytes(16 * 64);
  arguments[1] = TensorRef(bytes.data(), ElementType::F4E2M1FNx2, {16, 64});
  EXPECT_EQ(getMessage(kernel->launchList(Device::reference(), {}, arguments)),
            "argument 1 (x): expects extent 1 to be 32, but got 64; an element "
            "of f4E2M1FNx2 holds two values");
}

TEST_F(KernelTest, PassesScalarsOfEveryType) {
  Compiler compiler = makeCompiler();
  CompileOptions options;
  options.target = "sm_80";
  struct Row {
    const char *type;
    ElementType memory;
    Argument value;
    uint64_t code;
  };
  const Row rows[] = {
      {"i8", ElementType::I8, -2, 0xFE},
      {"i8", ElementType::I8, 200, 0xC8},
      {"i16", ElementType::I16, -3, 0xFFFD},
      {"i32", ElementType::I32, 0x89ABCDEFu, 0x89ABCDEF},
      {"i64", ElementType::I64, INT64_MIN, 0x8000000000000000},
      {"i64", ElementType::I64, ~uint64_t(0), ~uint64_t(0)},
      {"f32", ElementType::F32, 1.0000001192092896, 0x3F800001},
      {"f32", ElementType::F32, 3, 0x40400000},
      {"f16", ElementType::F16, 65504.0f, 0x7BFF},
      {"f16", ElementType::F16, 1e6, 0x7C00},
      {"bf16", ElementType::BF16, 1.01f, 0x3F81},
  };
  for (const Row &row : rows) {
    const std::string type = row.type;
    const std::string text =
        "func.func @k(%z: memref<?x" + type + ">, %s: " + type +
        ") attributes {tile.kernel} {\n  %c0 = arith.constant 0 : index\n"
        "  %t = tensor.splat %s : tensor<16x" +
        type +
        ">\n"
        "  tile.store %t, %z[%c0] : tensor<16x" +
        type + ">, memref<?x" + type + ">\n  return\n}";
    Expected<Kernel> kernel = compiler.compile(text, options, "k.mlir");
    ASSERT_TRUE(bool(kernel)) << kernel.error().str();
    for (const Device &device : {Device::reference(), *Device::emulator()}) {
      uint64_t codes[16] = {};
      Status status = kernel->launch(
          device, 1, TensorRef(codes, row.memory, {3}), row.value);
      ASSERT_TRUE(bool(status)) << status.error().str();
      uint64_t third = 0;
      const unsigned bytes = getElementBytes(row.memory);
      std::memcpy(&third, reinterpret_cast<char *>(codes) + 2 * bytes, bytes);
      EXPECT_EQ(third, row.code) << type;
    }
  }
}

//===----------------------------------------------------------------------===//
// Devices agree
//===----------------------------------------------------------------------===//

TEST_F(KernelTest, RunsAlikeOnEveryDevice) {
  Compiler compiler = makeCompiler();
  for (const char *target : {"sm_80", "sm_120a"}) {
    Expected<Kernel> kernel =
        compiler.compile(kLinearKernel, getLinearOptions(target), "k.mlir");
    ASSERT_TRUE(bool(kernel)) << kernel.error().str();
    for (auto [m, n, k] : {std::tuple(16, 16, 64), {40, 24, 416}, {1, 8, 32}}) {
      LinearData data(m, n, k, 7 * m + k), other(m, n, k, 7 * m + k);
      Status status = kernel->launchList(Device::reference(), data.getGrid(),
                                         data.getArguments());
      ASSERT_TRUE(bool(status)) << status.error().str();
      status = kernel->launchList(*Device::emulator(), other.getGrid(),
                                  other.getArguments());
      ASSERT_TRUE(bool(status)) << status.error().str();
      EXPECT_EQ(data.z, other.z);
    }
  }
}

/// One kernel, whatever K is: no step of its loop is lost and none is done
/// twice.
TEST_F(KernelTest, RunsWithAnyK) {
  Expected<Kernel> kernel = makeCompiler().compile(
      kLinearKernel, getLinearOptions("sm_120a"), "k.mlir");
  ASSERT_TRUE(bool(kernel)) << kernel.error().str();
  for (int64_t k : {0, 16, 64, 128, 480, 1024, 1056, 1152, 1280, 1312, 2176}) {
    LinearData ones(16, 16, k), data(16, 16, k, k), other(16, 16, k, k);
    std::fill(ones.x.begin(), ones.x.end(), 0x22);
    std::fill(ones.y.begin(), ones.y.end(), 0x22);
    std::fill(ones.xs.begin(), ones.xs.end(), 0x38);
    std::fill(ones.ys.begin(), ones.ys.end(), 0x38);
    const Device device = *Device::emulator();
    ASSERT_TRUE(bool(kernel->launchList(device, 1, ones.getArguments())));
    EXPECT_EQ(ones.z, std::vector<float>(256, static_cast<float>(k)));
    ASSERT_TRUE(bool(kernel->launchList(device, 1, data.getArguments())));
    ASSERT_TRUE(
        bool(kernel->launchList(Device::reference(), 1, other.getArguments())));
    EXPECT_EQ(data.z, other.z) << k;
  }
}

TEST_F(KernelTest, LaunchesInStreams) {
  Expected<Kernel> kernel = compileScale();
  ASSERT_TRUE(bool(kernel)) << kernel.error().str();
  for (const Device &device : {Device::reference(), *Device::emulator()}) {
    Expected<Stream> stream = Stream::create(device);
    ASSERT_TRUE(bool(stream));
    std::vector<float> start(16 * 32);
    for (size_t i = 0; i < start.size(); ++i)
      start[i] = static_cast<float>(i);
    Expected<Buffer> a =
        Buffer::copyOf(device, ElementType::F32, {16, 32}, start.data());
    Expected<Buffer> b = Buffer::allocate(device, ElementType::F32, {16, 32});
    ASSERT_TRUE(a && b);
    // In order: ((i * 2 + 1) * 3 - 4).
    ASSERT_TRUE(bool(kernel->launchAsync(*stream, {}, *b, *a, 2.0f, 1)));
    Expected<Event> event = kernel->launchAsync(*stream, {}, *a, *b, 3.0f, -4);
    ASSERT_TRUE(bool(event)) << event.error().str();
    Status status = event->synchronize();
    ASSERT_TRUE(bool(status)) << status.error().str();
    EXPECT_TRUE(*event->isComplete());
    std::vector<float> result(16 * 32);
    ASSERT_TRUE(bool(a->copyToHost(result.data())));
    for (size_t i = 0; i < result.size(); ++i)
      EXPECT_EQ(result[i], (static_cast<float>(i) * 2 + 1) * 3 - 4);
    // Checked before it is given to the stream.
    EXPECT_EQ(getMessage(kernel->launchAsync(*stream, {}, *a, *b, 3.0f)),
              "kernel 'scale' expects 4 arguments, but got 3");
  }
}

TEST_F(KernelTest, KeepsBuffersUntilTheLaunchIsComplete) {
  Expected<Kernel> kernel = compileScale();
  ASSERT_TRUE(bool(kernel));
  Expected<Stream> stream = Stream::create(Device::reference());
  ASSERT_TRUE(bool(stream));
  std::vector<float> result(16 * 32), ones(16 * 32, 1.5f);
  std::optional<Event> event;
  {
    Buffer x = std::move(*Buffer::copyOf(Device::reference(), ElementType::F32,
                                         {16, 32}, ones.data()));
    event = std::move(*kernel->launchAsync(
        *stream, {}, TensorRef(result.data(), ElementType::F32, {16, 32}), x,
        2.0f, 0));
  }
  ASSERT_TRUE(bool(event->synchronize()));
  EXPECT_EQ(result, std::vector<float>(16 * 32, 3.0f));
}

//===----------------------------------------------------------------------===//
// Specialisation
//===----------------------------------------------------------------------===//

TEST_F(KernelTest, SpecializesForWhatDivides) {
  Expected<Kernel> kernel =
      makeCompiler().compile(kLinearKernel, getLinearOptions(), "k.mlir");
  ASSERT_TRUE(bool(kernel)) << kernel.error().str();
  EXPECT_EQ(kernel->getNumVariants(), 1u);
  EXPECT_EQ(kernel->getPtx().find("cp.async"), std::string::npos);

  LinearData wide(32, 32, 256);
  Expected<std::string> ptx = kernel->getPtxFor(wide.getArguments());
  ASSERT_TRUE(bool(ptx)) << ptx.error().str();
  EXPECT_NE(ptx->find("cp.async"), std::string::npos);
  EXPECT_EQ(kernel->getNumVariants(), 2u);
  LinearData other(32, 32, 256);
  ASSERT_TRUE(bool(kernel->launchList(*Device::emulator(), wide.getGrid(),
                                      wide.getArguments())));
  ASSERT_TRUE(bool(kernel->launchList(Device::reference(), other.getGrid(),
                                      other.getArguments())));
  EXPECT_EQ(wide.z, other.z);
  EXPECT_EQ(kernel->getNumVariants(), 2u);

  // Rows of 23 pairs and 3 scales: nothing but the promises.
  LinearData odd(7, 9, 46);
  ptx = kernel->getPtxFor(odd.getArguments());
  ASSERT_TRUE(bool(ptx));
  EXPECT_EQ(ptx->find("cp.async"), std::string::npos);

  CompileOptions options = getLinearOptions();
  options.specialize = false;
  kernel = makeCompiler().compile(kLinearKernel, options, "k.mlir");
  ASSERT_TRUE(bool(kernel));
  EXPECT_EQ(*kernel->getPtxFor(wide.getArguments()), kernel->getPtx());
  EXPECT_EQ(kernel->getNumVariants(), 1u);
}

TEST_F(KernelTest, BindsIntegersAndShapes) {
  CompileOptions options;
  options.bindings = {{"bias", -5}};
  options.shapes = {{"z", {16, 32}}, {"x", {kDynamic, 32}}};
  Expected<Kernel> kernel = compileScale(options);
  ASSERT_TRUE(bool(kernel)) << kernel.error().str();
  ASSERT_EQ(kernel->getParameters().size(), 3u);
  EXPECT_EQ(kernel->getParameters()[0].shape, (std::vector<int64_t>{16, 32}));
  // A static extent is no parameter.
  EXPECT_EQ(kernel->getParameters()[0].mlirType,
            "memref<16x32xf32, strided<[?, 1]>>");
  std::vector<float> x(16 * 32);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(i);
  for (const Device &device : {Device::reference(), *Device::emulator()}) {
    std::vector<float> z(16 * 32, -1.0f);
    Status status = kernel->launch(
        device, 1, TensorRef(z.data(), ElementType::F32, {16, 32}),
        TensorRef(x.data(), ElementType::F32, {16, 32}), 2.0f);
    ASSERT_TRUE(bool(status)) << status.error().str();
    for (size_t i = 0; i < x.size(); ++i)
      EXPECT_EQ(z[i], 2 * x[i] - 5);
    EXPECT_EQ(getMessage(kernel->launch(
                  device, 1, TensorRef(z.data(), ElementType::F32, {16, 16}),
                  TensorRef(x.data(), ElementType::F32, {16, 32}), 2.0f)),
              "argument 0 (z): expects extent 1 to be 32, but got 16");
  }
  options.bindings = {{"scale", 1}};
  kernel = compileScale(options);
  EXPECT_EQ(getMessage(kernel),
            "bindings: argument 'scale' is of type f32, not an integer");
}

TEST_F(KernelTest, ChecksShapesAgainstTypes) {
  Compiler compiler = makeCompiler();
  CompileOptions options;
  options.target = "sm_80";
  const char *text = "func.func @f(%z: memref<4x?xf32>, %s: memref<f32>) "
                     "attributes {tile.kernel} { return }";
  options.shapes = {{"z", {4, 8}}, {"s", {}}};
  EXPECT_EQ(getMessage(compiler.compile(text, options)), "success");
  options.shapes = {{"z", {5, 8}}};
  EXPECT_EQ(getMessage(compiler.compile(text, options)),
            "shapes: argument 'z' expects extent 0 to be 4, but got 5");
}

TEST_F(KernelTest, CombinesPromisesOfAnySize) {
  Compiler compiler = makeCompiler();
  CompileOptions options;
  options.target = "sm_80";
  // 2^63 - 1 divides nothing but itself and 0.
  Expected<Kernel> kernel = compiler.compile(
      "func.func @f(%z: memref<?x?xf32>, %x: memref<?x?xf32> "
      "{tile.shape_divisible_by = array<i64: 9223372036854775807, 3>}) "
      "attributes {tile.kernel} {\n"
      "%c0 = arith.constant 0 : index\n"
      "%t = tile.load %x[%c0, %c0] : memref<?x?xf32> -> tensor<4x16xf32>\n"
      "tile.store %t, %z[%c0, %c0] : tensor<4x16xf32>, memref<?x?xf32>\n"
      "return }",
      options);
  ASSERT_TRUE(bool(kernel)) << kernel.error().str();
  for (const Device &device : {Device::reference(), *Device::emulator()}) {
    std::vector<float> z(4 * 16, -1.0f);
    EXPECT_EQ(getMessage(kernel->launch(
                  device, 1, TensorRef(z.data(), ElementType::F32, {4, 16}),
                  TensorRef(static_cast<void *>(nullptr), ElementType::F32,
                            {0, 48}))),
              "success");
    EXPECT_EQ(z, std::vector<float>(4 * 16));
  }
  EXPECT_EQ(kernel->getNumVariants(), 2u);
}

TEST_F(KernelTest, TakesPrivateKernels) {
  Compiler compiler = makeCompiler();
  CompileOptions options;
  options.target = "sm_80";
  options.bindings = {{"n", 3}};
  Expected<Kernel> kernel =
      compiler.compile("func.func private @f(%z: memref<?xf32>, %n: index) "
                       "attributes {tile.kernel} { return }",
                       options);
  ASSERT_TRUE(bool(kernel)) << kernel.error().str();
  EXPECT_EQ(kernel->getParameters().size(), 1u);
  EXPECT_NE(kernel->getPtx().find(".entry f("), std::string::npos);
}

TEST_F(KernelTest, SurvivesTextsThatNestWithoutEnd) {
  Compiler compiler = makeCompiler();
  CompileOptions options;
  options.target = "sm_80";
  auto compileNested = [&](const std::string &open, const std::string &close,
                           unsigned depth) {
    std::string text = "func.func @f() attributes {tile.kernel} {\n"
                       "%c = arith.constant true\n";
    for (unsigned i = 0; i < depth; ++i)
      text += open;
    for (unsigned i = 0; i < depth; ++i)
      text += close;
    return compiler.compile(text + "return }", options, "k");
  };
  EXPECT_EQ(getMessage(compileNested("scf.if %c {", "}\n", 200)), "success");
  Expected<Kernel> kernel = compileNested("scf.if %c {", "}\n", 100000);
  ASSERT_FALSE(bool(kernel));
  EXPECT_EQ(kernel.error().getCode(), ErrorCode::InvalidKernel);
  EXPECT_NE(kernel.error().getMessage().find("at most 256 nested brackets"),
            std::string::npos);
}

//===----------------------------------------------------------------------===//
// Stopping, faults, progress
//===----------------------------------------------------------------------===//

TEST_F(KernelTest, CanBeStopped) {
  CompileOptions options;
  options.target = "sm_80";
  std::atomic<bool> stop{true};
  options.cancel = &stop;
  Compiler compiler = makeCompiler();
  Expected<Kernel> kernel = compiler.compile(kEndlessKernel, options, "k.mlir");
  ASSERT_FALSE(bool(kernel));
  EXPECT_EQ(kernel.error().getCode(), ErrorCode::Cancelled);
  stop = false;
  kernel = compiler.compile(kEndlessKernel, options, "k.mlir");
  ASSERT_TRUE(bool(kernel)) << kernel.error().str();
  for (const Device &device : {Device::reference(), *Device::emulator()}) {
    stop = false;
    std::thread timer([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      stop = true;
    });
    int32_t z[16];
    LaunchOptions launch;
    launch.cancel = &stop;
    Status status = kernel->launchList(
        device, 1, {TensorRef(z, ElementType::I32, {16})}, launch);
    timer.join();
    ASSERT_FALSE(bool(status));
    EXPECT_EQ(status.error().getCode(), ErrorCode::Cancelled);
    EXPECT_EQ(status.error().getMessage(), "the launch was cancelled");
  }
}

TEST_F(KernelTest, TellsHowFarItIs) {
  Expected<Kernel> kernel = compileScale();
  ASSERT_TRUE(bool(kernel));
  std::vector<float> memory(64 * 64);
  for (const Device &device : {Device::reference(), *Device::emulator()}) {
    uint64_t last = 0, total = 0;
    LaunchOptions options;
    options.progress = [&](uint64_t done, uint64_t all) {
      EXPECT_GT(done, last);
      last = done, total = all;
    };
    Status status = kernel->launchList(
        device, Grid(4, 2),
        {TensorRef(memory.data(), ElementType::F32, {64, 64}),
         TensorRef(memory.data(), ElementType::F32, {64, 64}), 1, 1},
        options);
    ASSERT_TRUE(bool(status)) << status.error().str();
    EXPECT_EQ(last, 8u);
    EXPECT_EQ(total, 8u);
  }
}

TEST_F(KernelTest, FaultsAreErrors) {
  CompileOptions options;
  options.target = "sm_80";
  Expected<Kernel> kernel = makeCompiler().compile(
      "func.func @k(%z: memref<?xi32>, %d: index) attributes {tile.kernel} {\n"
      "  %a = tile.assume %d {max = 3 : i64, min = 0 : i64} : index\n"
      "  %t = arith.constant dense<5> : tensor<16xi32>\n"
      "  tile.store %t, %z[%a] : tensor<16xi32>, memref<?xi32>\n"
      "  return\n}",
      options, "k.mlir");
  ASSERT_TRUE(bool(kernel)) << kernel.error().str();
  int32_t z[16];
  Status status = kernel->launch(Device::reference(), 1,
                                 TensorRef(z, ElementType::I32, {16}), 4);
  ASSERT_FALSE(bool(status));
  EXPECT_EQ(status.error().getCode(), ErrorCode::Fault);
  EXPECT_NE(status.error().getMessage().find("k.mlir:2:8"), std::string::npos)
      << status.error().getMessage();
  // In a stream it is the event's.
  Expected<Stream> stream = Stream::create(Device::reference());
  Expected<Event> event =
      kernel->launchAsync(*stream, 1, TensorRef(z, ElementType::I32, {16}), 4);
  ASSERT_TRUE(bool(event)) << event.error().str();
  EXPECT_EQ(getMessage(event->synchronize()), status.error().str());
}

} // namespace
