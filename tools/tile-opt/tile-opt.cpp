//===- tile-opt.cpp - MLIR's usual driver with the tile dialect -----------===//
//
// Like mlir-opt, except that a kernel file may be a template (see Template.h),
// which is expanded before the driver parses it.
//
//===----------------------------------------------------------------------===//

#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "tile/Codegen/Compiler.h"
#include "tile/Conversion/Passes.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Tools/Files.h"
#include "tile/Tools/Options.h"
#include "tile/Transforms/Passes.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

/// For messages alone; the options are MLIR's.
static constexpr tile::ToolInfo tool = {"tile-opt", tile::CompileOption, "", "",
                                        ""};

static llvm::cl::list<std::string>
    definitions("D", llvm::cl::Prefix,
                llvm::cl::desc("Replace ${NAME} in the kernel file"),
                llvm::cl::value_desc("NAME=VALUE"));

static LogicalResult run(StringRef input, StringRef output,
                         DialectRegistry &registry,
                         const MlirOptMainConfig &config) {
  tile::TemplateConstants constants;
  for (const std::string &definition : definitions)
    if (llvm::Error error = constants.addDefinition(definition)) {
      tile::reportError(tool, std::move(error));
      return failure();
    }
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> buffer =
      tile::readKernelFile(input, constants);
  if (!buffer) {
    tile::reportError(tool, buffer.takeError());
    return failure();
  }
  if (llvm::Error error = tile::checkKernel(**buffer, registry)) {
    tile::reportError(tool, std::move(error));
    return failure();
  }
  std::string message;
  std::unique_ptr<llvm::ToolOutputFile> file = openOutputFile(output, &message);
  if (!file) {
    llvm::errs() << tool.name << ": error: " << message << '\n';
    return failure();
  }
  if (failed(MlirOptMain(file->os(), std::move(*buffer), registry, config)))
    return failure();
  file->keep();
  return success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  DialectRegistry registry;
  tile::registerTileDialects(registry);
  tile::registerCodegenDialects(registry);
  tile::registerTileTransformsPasses();
  tile::registerTileConversionPasses();
  tile::registerTilePipelines();
  registerTransformsPasses();

  auto [input, output] = registerAndParseCLIOptions(
      argc, argv, "Tile optimizer driver\n", registry);
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  // These print a list and read no file.
  if (config.shouldShowDialects() || config.shouldListPasses())
    return asMainReturnCode(MlirOptMain(argc, argv, input, output, registry));
  return asMainReturnCode(run(input, output, registry, config));
}
