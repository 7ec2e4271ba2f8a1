//===- Errors.cpp - C API: versions, texts, errors, element types ---------===//

#include "Gate.h"
#include "Handles.h"

using namespace tile;
using namespace tile::capi;

#define TILE_SAME(C, CXX)                                                      \
  static_assert(static_cast<int>(C) == static_cast<int>(runtime::CXX),         \
                #C " has another value in C++")

TILE_SAME(TILE_ERROR_INVALID_ARGUMENT, ErrorCode::InvalidArgument);
TILE_SAME(TILE_ERROR_INVALID_KERNEL, ErrorCode::InvalidKernel);
TILE_SAME(TILE_ERROR_NOT_FOUND, ErrorCode::NotFound);
TILE_SAME(TILE_ERROR_UNAVAILABLE, ErrorCode::Unavailable);
TILE_SAME(TILE_ERROR_DRIVER, ErrorCode::Driver);
TILE_SAME(TILE_ERROR_FAULT, ErrorCode::Fault);
TILE_SAME(TILE_ERROR_CANCELLED, ErrorCode::Cancelled);
TILE_SAME(TILE_ERROR_IO, ErrorCode::Io);
TILE_SAME(TILE_ERROR_OUT_OF_MEMORY, ErrorCode::OutOfMemory);
TILE_SAME(TILE_SEVERITY_ERROR, Diagnostic::Severity::Error);
TILE_SAME(TILE_SEVERITY_WARNING, Diagnostic::Severity::Warning);
TILE_SAME(TILE_SEVERITY_REMARK, Diagnostic::Severity::Remark);
TILE_SAME(TILE_SEVERITY_NOTE, Diagnostic::Severity::Note);
TILE_SAME(TILE_ELEMENT_I1, ElementType::I1);
TILE_SAME(TILE_ELEMENT_I8, ElementType::I8);
TILE_SAME(TILE_ELEMENT_I16, ElementType::I16);
TILE_SAME(TILE_ELEMENT_I32, ElementType::I32);
TILE_SAME(TILE_ELEMENT_I64, ElementType::I64);
TILE_SAME(TILE_ELEMENT_INDEX, ElementType::Index);
TILE_SAME(TILE_ELEMENT_BF16, ElementType::BF16);
TILE_SAME(TILE_ELEMENT_F16, ElementType::F16);
TILE_SAME(TILE_ELEMENT_F32, ElementType::F32);
TILE_SAME(TILE_ELEMENT_F64, ElementType::F64);
TILE_SAME(TILE_ELEMENT_F8E4M3FN, ElementType::F8E4M3FN);
TILE_SAME(TILE_ELEMENT_F8E5M2, ElementType::F8E5M2);
TILE_SAME(TILE_ELEMENT_F8E8M0FNU, ElementType::F8E8M0FNU);
TILE_SAME(TILE_ELEMENT_F4E2M1FNX2, ElementType::F4E2M1FNx2);
TILE_SAME(TILE_DEVICE_REFERENCE, Device::Kind::Reference);
TILE_SAME(TILE_DEVICE_EMULATOR, Device::Kind::Emulator);
TILE_SAME(TILE_DEVICE_CUDA, Device::Kind::Cuda);
TILE_SAME(TILE_MEMORY_HOST, MemoryPlace::Kind::Host);
TILE_SAME(TILE_MEMORY_CUDA, MemoryPlace::Kind::Cuda);
TILE_SAME(TILE_ASSEMBLER_AUTO, Assembler::Auto);
TILE_SAME(TILE_ASSEMBLER_PTXAS, Assembler::Ptxas);
TILE_SAME(TILE_ASSEMBLER_DRIVER, Assembler::Driver);
TILE_SAME(TILE_REMARK_PASSED, Remark::Kind::Passed);
TILE_SAME(TILE_REMARK_MISSED, Remark::Kind::Missed);
TILE_SAME(TILE_REMARK_FAILED, Remark::Kind::Failed);
TILE_SAME(TILE_REMARK_ANALYSIS, Remark::Kind::Analysis);
TILE_SAME(TILE_SCALE_RULE_FLOOR, ScaleRule::Floor);
TILE_SAME(TILE_SCALE_RULE_CEIL, ScaleRule::Ceil);
TILE_SAME(TILE_SCALE_RULE_EVEN, ScaleRule::Even);
static_assert(TILE_DYNAMIC == runtime::kDynamic);

// The layout that programs in other languages rely on.
static_assert(sizeof(TileElementType) == sizeof(int));
#if UINTPTR_MAX == UINT64_MAX
static_assert(sizeof(TileString) == 16 && sizeof(TileGrid) == 24 &&
              sizeof(TileArgument) == 16);
static_assert(sizeof(TileDiagnostic) == 40 && sizeof(TileTensor) == 56 &&
              sizeof(TileCacheOptions) == 40 &&
              sizeof(TileCacheStatistics) == 56);
static_assert(sizeof(TileParameter) == 72 && sizeof(TileRemark) == 56 &&
              sizeof(TileMultiply) == 48 && sizeof(TileResources) == 40 &&
              sizeof(TileLaunchOptions) == 56);
static_assert(sizeof(TileLinearProblem) == 48 &&
              sizeof(TileQuantizeProblem) == 40 &&
              sizeof(TileQuantizeOptions) == 24);
#endif

//===----------------------------------------------------------------------===//
// Versions, targets, texts
//===----------------------------------------------------------------------===//

const char *tileGetVersion(void) { return runtime::getVersion(); }

uint32_t tileGetAbiVersion(void) { return TILE_C_ABI_VERSION; }

/// The targets; never destroyed, since callers hold their names.
static const std::vector<std::string> &getTargets() {
  runtime::ForkShield shield;
  static const auto *targets =
      new std::vector<std::string>(runtime::getTargets());
  return *targets;
}

size_t tileGetNumTargets(void) { return getTargets().size(); }

const char *tileGetTarget(size_t index) {
  return index < getTargets().size() ? getTargets()[index].c_str() : nullptr;
}

TileString tileTextGet(const TileText *text) {
  return text ? getString(text->text) : TileString{"", 0};
}

void tileTextDestroy(TileText *text) { delete text; }

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

TileError *tile::capi::makeError(runtime::Error error) {
  return new TileError(std::move(error));
}

TileError *tile::capi::makeError(std::string message) {
  return makeError(
      runtime::Error(runtime::ErrorCode::InvalidArgument, std::move(message)));
}

TileError *tile::capi::makeNullError(const char *what) {
  return makeError(std::string("expects ") + what + ", but got a null pointer");
}

TileError *tile::capi::makeError(runtime::Status status) {
  return status ? nullptr : makeError(std::move(status).error());
}

TileErrorCode tileErrorGetCode(const TileError *error) {
  return static_cast<TileErrorCode>(
      error ? static_cast<int>(error->error.getCode()) : 0);
}

const char *tileErrorCodeGetName(TileErrorCode code) {
  if (code < TILE_ERROR_INVALID_ARGUMENT || code > TILE_ERROR_OUT_OF_MEMORY)
    return nullptr;
  return runtime::getErrorCodeName(static_cast<runtime::ErrorCode>(code));
}

const char *tileErrorGetMessage(const TileError *error) {
  return error ? error->error.getMessage().c_str() : "";
}

const char *tileErrorGetText(const TileError *error) {
  return error ? error->text.c_str() : "";
}

size_t tileErrorGetNumDiagnostics(const TileError *error) {
  return error ? error->error.getDiagnostics().size() : 0;
}

bool tileErrorGetDiagnostic(const TileError *error, size_t index,
                            TileDiagnostic *diagnostic) {
  if (index >= tileErrorGetNumDiagnostics(error))
    return false;
  const runtime::Diagnostic &source = error->error.getDiagnostics()[index];
  TileDiagnostic value = {};
  value.severity = static_cast<TileSeverity>(source.severity);
  value.line = source.location.line;
  value.column = source.location.column;
  value.file = source.location.file.c_str();
  value.message = source.message.c_str();
  return write(diagnostic, value);
}

void tileErrorDestroy(TileError *error) { delete error; }

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

static bool isElementType(const TileElementType &type) {
  const int number = getNumber(type);
  return number >= TILE_ELEMENT_I1 && number <= TILE_ELEMENT_F4E2M1FNX2;
}

TileError *tile::capi::checkElementType(const TileElementType &type,
                                        const char *what) {
  if (isElementType(type))
    return nullptr;
  return makeError(std::string("expects an element type for ") + what +
                   ", but got " + std::to_string(getNumber(type)));
}

uint32_t tileElementTypeGetBytes(TileElementType type) {
  return isElementType(type) ? runtime::getElementBytes(getElementType(type))
                             : 0;
}

const char *tileElementTypeGetName(TileElementType type) {
  return isElementType(type) ? runtime::getElementTypeName(getElementType(type))
                             : nullptr;
}

TileError *tileElementTypeFind(const char *name, TileElementType *type) {
  if (!name)
    return makeNullError("a name of an element type");
  if (!type)
    return makeNullError("a place for the element type");
  runtime::Expected<runtime::ElementType> found =
      runtime::findElementType(name);
  if (!found)
    return makeError(std::move(found).error());
  *type = static_cast<TileElementType>(*found);
  return nullptr;
}
