//===- TensorMapsTest.cpp - The tensor maps of a launch -------------------===//

#include "TensorMaps.h"

#include "CudaDriver.h"
#include "CudaFixture.h"

#include <cstring>

using namespace tile;
using namespace tile::runtime;
using namespace tile::runtime::test;
using Layout = std::vector<int64_t>;
using EmulatorMap = emulator::TensorMap;

namespace {

//===----------------------------------------------------------------------===//
// From an array to a map
//===----------------------------------------------------------------------===//

/// Rows of an array of two dimensions, in boxes of 64 rows.
TensorMapParameter makeParameter(const char *type, unsigned columns) {
  TensorMapParameter map;
  map.dims = {0, 1};
  map.box = {64, columns};
  map.swizzle = 128;
  map.type = type;
  return map;
}

std::string getError(const TensorMapParameter &map, uint64_t address,
                     const Layout &shape, const Layout &strides) {
  auto made = makeTensorMap(map, {address, shape, strides}, 0x40);
  if (made)
    return "";
  return llvm::toString(made.takeError());
}

TEST(TensorMapsTest, DescribesArrays) {
  const Layout shape = {70, 96}, strides = {112, 1};
  EmulatorMap map = llvm::cantFail(
      makeTensorMap(makeParameter("u8", 128), {0x1230, shape, strides}, 0));
  EXPECT_EQ(map.element, EmulatorMap::Element::U8);
  EXPECT_EQ(map.rank, 2u);
  EXPECT_EQ(map.address, 0x1230u);
  EXPECT_EQ(map.extents[0], 96u);
  EXPECT_EQ(map.extents[1], 70u);
  EXPECT_EQ(map.strides[0], 112u);
  EXPECT_EQ(map.box[0], 128u);
  EXPECT_EQ(map.box[1], 64u);
  EXPECT_EQ(map.swizzle, EmulatorMap::Swizzle::Bytes128);
  EXPECT_EQ(map.fill, EmulatorMap::Fill::Zero);

  // Strides are bytes, and of other types than bytes the elements count.
  map = llvm::cantFail(
      makeTensorMap(makeParameter("u16", 64), {0x1230, shape, strides}, 0));
  EXPECT_EQ(map.extents[0], 96u);
  EXPECT_EQ(map.strides[0], 224u);
  const Layout pairs = {70, 128}, pairStrides = {160, 1};
  map = llvm::cantFail(makeTensorMap(makeParameter("b4x16_p64", 128),
                                     {0x1220, pairs, pairStrides}, 0));
  EXPECT_EQ(map.extents[0], 256u);
  EXPECT_EQ(map.strides[0], 160u);
}

/// The contiguous dimension is the map's last, wherever the array has it.
TEST(TensorMapsTest, OrdersDimensions) {
  TensorMapParameter parameter = makeParameter("u8", 128);
  parameter.dims = {0, 2, 1};
  parameter.box = {1, 32, 128};
  const Layout shape = {3, 200, 40}, strides = {8320, 1, 208};
  EmulatorMap map =
      llvm::cantFail(makeTensorMap(parameter, {0x100, shape, strides}, 0));
  EXPECT_EQ(map.rank, 3u);
  EXPECT_EQ(map.extents[0], 200u);
  EXPECT_EQ(map.extents[1], 40u);
  EXPECT_EQ(map.extents[2], 3u);
  EXPECT_EQ(map.strides[0], 208u);
  EXPECT_EQ(map.strides[1], 8320u);
  EXPECT_EQ(map.box[0], 128u);
  EXPECT_EQ(map.box[1], 32u);
  EXPECT_EQ(map.box[2], 1u);
}

/// A map has at least one element, and nobody may read an array without any.
TEST(TensorMapsTest, DescribesZerosForAnEmptyArray) {
  for (const Layout &shape : {Layout{0, 96}, {70, 0}, {0, 0}})
    for (const char *type : {"u8", "u16", "b4x16_p64"}) {
      const Layout strides = {3, 7};
      TensorMapParameter parameter =
          makeParameter(type, llvm::StringRef(type) == "u16" ? 64 : 128);
      EmulatorMap map = llvm::cantFail(
          makeTensorMap(parameter, {0x1233, shape, strides}, 0x40));
      EXPECT_EQ(map.address, 0x40u);
      const uint64_t bytes =
          map.extents[0] * map.getElementBits() / 8 * map.extents[1];
      EXPECT_LE(bytes, kEmptyTensorBytes);
    }
}

/// The stride of a dimension with one element is never used.
TEST(TensorMapsTest, TakesAnyStrideOfOneElement) {
  const Layout shape = {1, 96}, strides = {97, 1};
  EmulatorMap map = llvm::cantFail(
      makeTensorMap(makeParameter("u8", 128), {0x10, shape, strides}, 0));
  EXPECT_EQ(map.strides[0] % 16, 0u);
  const Layout column = {70, 1}, columnStrides = {16, 5};
  llvm::cantFail(makeTensorMap(makeParameter("u8", 128),
                               {0x10, column, columnStrides}, 0));
}

TEST(TensorMapsTest, SaysWhatAnArrayLacks) {
  TensorMapParameter bytes = makeParameter("u8", 128);
  EXPECT_EQ(getError(bytes, 0x1238, {70, 96}, {112, 1}),
            "a tensor map expects an address that is a multiple of 16, but got "
            "0x1238");
  EXPECT_EQ(
      getError(bytes, 0x10, {70, 96}, {104, 1}),
      "a tensor map expects a stride along dimension 0 that is a multiple "
      "of 16 elements and less than 2^40 bytes, but got 104");
  EXPECT_EQ(
      getError(bytes, 0x10, {70, 96}, {-112, 1}),
      "a tensor map expects a stride along dimension 0 that is a multiple "
      "of 16 elements and less than 2^40 bytes, but got -112");
  EXPECT_EQ(
      getError(bytes, 0x10, {70, 96}, {int64_t(1) << 40, 1}),
      "a tensor map expects a stride along dimension 0 that is a multiple "
      "of 16 elements and less than 2^40 bytes, but got 1099511627776");
  EXPECT_EQ(getError(bytes, 0x10, {70, 96}, {112, 2}),
            "a tensor map expects stride 1 along dimension 1, but got 2");
  EXPECT_EQ(getError(bytes, 0x10, {(int64_t(1) << 30) + 1, 96}, {112, 1}),
            "a tensor map expects dimension 0 to have at most 1073741824 "
            "elements, but got 1073741825");
  TensorMapParameter pairs = makeParameter("b4x16_p64", 128);
  EXPECT_EQ(getError(pairs, 0x1230, {70, 64}, {64, 1}),
            "a tensor map expects an address that is a multiple of 32, but got "
            "0x1230");
  EXPECT_EQ(getError(pairs, 0x1220, {70, 96}, {96, 1}),
            "a tensor map expects dimension 1 to have at most 536870912 "
            "elements, a multiple of 64, but got 96");
  EXPECT_EQ(
      getError(makeParameter("u16", 64), 0x10, {70, 96}, {100, 1}),
      "a tensor map expects a stride along dimension 0 that is a multiple "
      "of 8 elements and less than 2^40 bytes, but got 100");
}

TEST(TensorMapsTest, RefusesWhatNoKernelHas) {
  auto isValid = [](auto change, size_t rank = 2) {
    TensorMapParameter map = makeParameter("u8", 128);
    change(map);
    llvm::Error error = validate(map, rank);
    const bool result = !error;
    llvm::consumeError(std::move(error));
    return result;
  };
  using Map = TensorMapParameter;
  EXPECT_TRUE(isValid([](Map &) {}));
  EXPECT_FALSE(isValid([](Map &) {}, 1));
  EXPECT_FALSE(isValid([](Map &) {}, 3));
  EXPECT_FALSE(isValid([](Map &) {}, 0));
  EXPECT_FALSE(isValid([](Map &map) { map.dims = {1, 1}; }));
  EXPECT_FALSE(isValid([](Map &map) { map.dims = {0, 2}; }));
  EXPECT_FALSE(isValid([](Map &map) { map.dims = {0, 1, 1}; }));
  EXPECT_FALSE(isValid([](Map &map) { map.box = {64}; }));
  EXPECT_FALSE(isValid([](Map &map) { map.box = {0, 128}; }));
  EXPECT_FALSE(isValid([](Map &map) { map.box = {257, 128}; }));
  EXPECT_FALSE(isValid([](Map &map) { map.box = {64, 256}; }));
  EXPECT_FALSE(isValid([](Map &map) { map.swizzle = 96; }));
  EXPECT_FALSE(isValid([](Map &map) { map.type = "f32"; }));
  EXPECT_FALSE(isValid([](Map &map) { map.type = ""; }));
  EXPECT_FALSE(isValid([](Map &map) { map.fill = "nan"; }));
  EXPECT_FALSE(isValid(
      [](Map &map) {
        map.dims = {0, 1, 2, 3, 4, 5};
        map.box = {1, 1, 1, 1, 1, 128};
      },
      6));
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// z[M,N] = x[M,K] . y[N,K]^T in bf16, tiles of 128 by 64 by 64.
constexpr const char *kProduct = R"mlir(
!out = memref<?x?xf32, strided<[?, 1]>>
!in  = memref<?x?xbf16, strided<[?, 1]>>
func.func @product(%z: !out, %x: !in {tile.stride_divisible_by = array<i64: 8, 1>},
                   %y: !in {tile.stride_divisible_by = array<i64: 8, 1>})
    attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bk = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %m = tile.program_id 0
  %n = tile.program_id 1
  %k = memref.dim %x, %c1 : !in
  %steps = arith.ceildivui %k, %bk : index
  %acc = scf.for %i = %c0 to %steps step %c1 iter_args(%a = %zero) -> (tensor<128x64xf32>) {
    %xt = tile.load %x[%m, %i] : !in -> tensor<128x64xbf16>
    %yl = tile.load %y[%n, %i] : !in -> tensor<64x64xbf16>
    %yt = tile.permute %yl [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %r = tile.mmaf %xt, %yt, %a : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    scf.yield %r : tensor<128x64xf32>
  }
  tile.store %acc, %z[%m, %n] : tensor<128x64xf32>, !out
  return
}
)mlir";

Kernel compileProduct(bool tma = true, bool specialize = false) {
  CacheOptions cache;
  cache.useDisk = false;
  CompileOptions options;
  options.target = "sm_100a";
  options.assembler = Assembler::Driver;
  options.tma = tma;
  options.specialize = specialize;
  Expected<Kernel> kernel = Compiler(cache).compile(kProduct, options);
  if (!kernel) {
    ADD_FAILURE() << kernel.error().str();
    std::abort();
  }
  return *kernel;
}

/// Arrays of one product, whose values are small integers.
struct Product {
  Product(const Device &device, int64_t m, int64_t n, int64_t k)
      : m(m), n(n), k(k), x(makeFloats(m * k, 1)), y(makeFloats(n * k, 2)) {
    for (std::vector<float> *values : {&x, &y})
      for (float &value : *values)
        value = static_cast<float>(static_cast<int>(value) % 8);
    stride = (k + 7) / 8 * 8 + 8;
    zs = *Buffer::allocate(device, ElementType::F32, {m, n});
    EXPECT_TRUE(bool(zs.fill(0xFF)));
    xs = copy(device, x, m);
    ys = copy(device, y, n);
  }

  /// Rows that are `stride` apart, with NaN between them.
  Buffer copy(const Device &device, const std::vector<float> &values,
              int64_t rows) {
    std::vector<uint16_t> codes(std::max<int64_t>(rows * stride, 1), 0x7FC1);
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t i = 0; i < k; ++i) {
        uint32_t bits;
        std::memcpy(&bits, &values[row * k + i], sizeof(bits));
        codes[row * stride + i] = static_cast<uint16_t>(bits >> 16);
      }
    return *Buffer::copyOf(device, ElementType::BF16, {rows, stride},
                           codes.data());
  }

  TensorRef getView(const Buffer &buffer) const {
    TensorRef view = buffer.getRef();
    view.shape = {view.shape[0], k};
    return view;
  }

  Status launch(const Kernel &kernel, const Device &device) const {
    return kernel.launch(device, {(m + 127) / 128, (n + 63) / 64}, zs,
                         getView(xs), getView(ys));
  }

  void check() {
    std::vector<float> z(m * n);
    ASSERT_TRUE(bool(zs.copyToHost(z.data())));
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        float sum = 0;
        for (int64_t l = 0; l < k; ++l)
          sum += x[i * k + l] * y[j * k + l];
        ASSERT_EQ(z[i * n + j], sum) << i << ", " << j;
      }
  }

  int64_t m, n, k, stride;
  std::vector<float> x, y;
  Buffer zs, xs, ys;
};

TEST(TensorMapsLaunchTest, KernelsTellTheirMaps) {
  Kernel kernel = compileProduct();
  const std::vector<TensorMap> &maps = kernel.getTensorMaps();
  ASSERT_EQ(maps.size(), 2u);
  // Pointer, two extents and a stride for each array.
  EXPECT_EQ(maps[0].parameter, 12u);
  EXPECT_EQ(maps[0].argument, 1u);
  EXPECT_EQ(maps[0].dims, (std::vector<unsigned>{0, 1}));
  EXPECT_EQ(maps[0].box, (std::vector<unsigned>{128, 64}));
  EXPECT_EQ(maps[0].swizzle, 128u);
  EXPECT_EQ(maps[0].type, "u16");
  EXPECT_EQ(maps[0].fill, "zero");
  EXPECT_EQ(maps[1].parameter, 13u);
  EXPECT_EQ(maps[1].argument, 2u);
  EXPECT_EQ(maps[1].box, (std::vector<unsigned>{64, 64}));
  EXPECT_TRUE(compileProduct(/*tma=*/false).getTensorMaps().empty());
}

TEST(TensorMapsLaunchTest, Emulator) {
  Kernel kernel = compileProduct();
  Device device = *Device::emulator("sm_100a");
  const int64_t shapes[][3] = {
      {128, 64, 64}, {200, 70, 200}, {1, 1, 1}, {130, 65, 0}, {3, 5, 100}};
  for (auto [m, n, k] : shapes) {
    Product product(device, m, n, k);
    Status done = product.launch(kernel, device);
    ASSERT_TRUE(bool(done)) << done.error().str();
    product.check();
  }
  // Of no rows there is nothing to write.
  Product product(device, 0, 5, 100);
  EXPECT_TRUE(
      bool(kernel.launch(device, {1}, product.zs, product.getView(product.xs),
                         product.getView(product.ys))));
}

TEST(TensorMapsLaunchTest, ArraysThatNoMapDescribes) {
  Kernel kernel = compileProduct();
  Device device = *Device::emulator("sm_100a");
  Product product(device, 4, 4, 64);
  TensorRef x = product.getView(product.xs);
  x.shape[0] = (int64_t(1) << 30) + 1;
  x.strides[0] = 0;
  EXPECT_ERROR(
      kernel.launch(device, {1}, product.zs, x, product.getView(product.ys)),
      InvalidArgument,
      "argument 1 (x): a tensor map expects dimension 0 to have at "
      "most 1073741824 elements, but got 1073741825");
}

class TensorMapsCudaTest : public CudaTest {
protected:
  Device device = getDevice(6);
  Kernel kernel = compileProduct();
};

TEST_F(TensorMapsCudaTest, Launches) {
  ASSERT_EQ(device.getTarget(), "sm_100a");
  const int64_t shapes[][3] = {{128, 64, 64}, {200, 70, 200}, {130, 65, 0}};
  for (auto [m, n, k] : shapes) {
    Product product(device, m, n, k);
    Status done = product.launch(kernel, device);
    ASSERT_TRUE(bool(done)) << done.error().str() << fake.getLog();
    product.check();
  }
  const std::string log = fake.getLog();
  EXPECT_NE(log.find("cuTensorMapEncodeTiled 1 2 extents 200 200\n"),
            std::string::npos)
      << log;
  EXPECT_NE(log.find("cuTensorMapEncodeTiled 1 2 extents 200 70\n"),
            std::string::npos);
  EXPECT_NE(log.find("cuTensorMapEncodeTiled 1 2 extents 1 1\n"),
            std::string::npos);
}

TEST_F(TensorMapsCudaTest, EveryEncodingFailsOnce) {
  Product product(device, 130, 65, 100);
  for (int nth = 1;; ++nth) {
    fake.reset();
    fake.fail("cuTensorMapEncodeTiled", 999, nth);
    Status done = product.launch(kernel, device);
    if (!fake.hasFailed()) {
      EXPECT_TRUE(bool(done));
      EXPECT_EQ(nth, 3);
      break;
    }
    ASSERT_FALSE(bool(done)) << nth;
    EXPECT_EQ(done.error().getCode(), ErrorCode::Driver);
    EXPECT_EQ(done.error().getMessage(),
              "cuTensorMapEncodeTiled of kernel 'product' on cuda:6 failed: "
              "CUDA_ERROR_UNKNOWN (unknown error)");
    EXPECT_EQ(fake.count("launches"), 0);
  }
  fake.fail("cuTensorMapEncodeTiled", 0, 0);
  product.check();
}

/// What comes with the code of a kernel with maps: zeros.
TEST_F(TensorMapsCudaTest, ZerosThatCannotBeMade) {
  Product product(device, 4, 4, 64);
  for (const char *symbol : {"cuMemAlloc_v2", "cuMemsetD8Async"}) {
    Kernel fresh = compileProduct();
    fake.reset();
    fake.fail(symbol, 2, 1);
    Status done = product.launch(fresh, device);
    ASSERT_FALSE(bool(done));
    EXPECT_EQ(done.error().getCode(), ErrorCode::OutOfMemory);
    done = product.launch(fresh, device);
    EXPECT_TRUE(bool(done));
  }
}

/// Drivers before CUDA 12 run everything else.
TEST_F(TensorMapsCudaTest, OldDriver) {
  Product product(device, 4, 4, 64);
  auto &driver = const_cast<CudaDriver &>(**CudaDriver::get());
  auto *function = driver.cuTensorMapEncodeTiled.function;
  driver.cuTensorMapEncodeTiled.function = nullptr;
  EXPECT_ERROR(
      product.launch(kernel, device), Unavailable,
      "the CUDA driver has no function 'cuTensorMapEncodeTiled', which "
      "kernel 'product' needs for its tensor maps; it is too old");
  EXPECT_TRUE(bool(product.launch(compileProduct(/*tma=*/false), device)));
  product.check();
  driver.cuTensorMapEncodeTiled.function = function;
}

} // namespace
