//===- tile-target-info.cpp - Prints the target and instruction tables ----===//
//
// For tests: as JSON, for the script that compares the tables with what ptxas
// accepts; as Markdown, for the one that compares them with docs/targets.md.
//
//===----------------------------------------------------------------------===//

#include "tile/Target/MmaAtoms.h"
#include "tile/Target/TargetInfo.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace tile;
namespace json = llvm::json;

enum class OutputFormat { Json, Markdown };

static llvm::cl::opt<OutputFormat> outputFormat(
    "format", llvm::cl::desc("How to print the tables"),
    llvm::cl::values(clEnumValN(OutputFormat::Json, "json", "One JSON object"),
                     clEnumValN(OutputFormat::Markdown, "markdown",
                                "The tables of docs/targets.md")),
    llvm::cl::init(OutputFormat::Json));

static std::vector<Capability> allCapabilities() {
  std::vector<Capability> capabilities;
  for (unsigned i = 0; i < kNumCapabilities; ++i)
    capabilities.push_back(static_cast<Capability>(i));
  return capabilities;
}

/// Writes version 88 as `8.8`.
static std::string spell(PtxVersion version) {
  return llvm::formatv("{0}.{1}", version / 10, version % 10);
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static llvm::StringRef spell(BlockScaleKind kind) {
  switch (kind) {
  case BlockScaleKind::None:
    return "";
  case BlockScaleKind::Mxf8f6f4:
    return "mxf8f6f4";
  case BlockScaleKind::Mxf4:
    return "mxf4";
  case BlockScaleKind::Mxf4nvf4:
    return "mxf4nvf4";
  case BlockScaleKind::F16:
    return "f16";
  case BlockScaleKind::F8f6f4:
    return "f8f6f4";
  }
  llvm_unreachable("unknown kind");
}

/// `ptxVersionFor` by capability name, for the capabilities that it has.
static json::Object capabilitiesOf(const TargetInfo &target) {
  json::Object capabilities;
  for (Capability capability : allCapabilities())
    if (target.has(capability))
      capabilities[getCapabilityName(capability)] =
          spell(target.ptxVersionFor(capability));
  return capabilities;
}

static json::Object describe(const TargetInfo &target) {
  return json::Object{{"name", target.name},
                      {"family", target.family},
                      {"ptx", spell(target.minPtxVersion)},
                      {"shared", target.maxSharedBytes},
                      {"capabilities", capabilitiesOf(target)}};
}

static json::Object describe(const MmaAtom &atom) {
  json::Object object{
      {"name", atom.name},
      {"shape", llvm::formatv("m{0}n{1}k{2}", atom.m, atom.n, atom.k).str()},
      {"capability", getCapabilityName(atom.capability)},
      {"issuer", atom.issuer == MmaIssuer::Thread ? "thread" : "warp"},
      {"lhs", getFormatInfo(atom.lhsFormat).ptxName},
      {"rhs", getFormatInfo(atom.rhsFormat).ptxName},
      {"lhsLayout", atom.lhs.toString()},
      {"rhsLayout", atom.rhs.toString()},
      {"accLayout", atom.acc.toString()},
  };
  if (atom.kind != BlockScaleKind::None)
    object["kind"] = spell(atom.kind);
  if (atom.isBlockScaled()) {
    object["scaleVec"] = atom.scaleVecSize;
    object["block"] = atom.blockSize;
    object["scale"] = getFormatInfo(*atom.scaleFormat).name;
    object["lhsScaleLayout"] = atom.lhsScale.toString();
    object["rhsScaleLayout"] = atom.rhsScale.toString();
  }
  return object;
}

static void printJson(llvm::raw_ostream &os) {
  json::Array targets, capabilities, atoms;
  for (const TargetInfo &target : getTargets())
    targets.push_back(describe(target));
  for (Capability capability : allCapabilities())
    capabilities.push_back(getCapabilityName(capability));
  for (const MmaAtom &atom : getMmaAtoms())
    atoms.push_back(describe(atom));
  os << llvm::formatv("{0:2}\n", json::Value(json::Object{
                                     {"targets", std::move(targets)},
                                     {"capabilities", std::move(capabilities)},
                                     {"atoms", std::move(atoms)}}));
}

//===----------------------------------------------------------------------===//
// Markdown
//===----------------------------------------------------------------------===//

using TargetPredicate = llvm::function_ref<bool(const TargetInfo &)>;

/// The targets for which `holds`, in the shorter of `sm_80, sm_86` and
/// `all but sm_80, sm_86`.
static std::string listWhere(TargetPredicate holds) {
  std::vector<std::string> with, without;
  for (const TargetInfo &target : getTargets())
    (holds(target) ? with : without).push_back(target.name.str());
  if (without.empty())
    return "all";
  if (with.empty())
    return "none";
  return with.size() <= without.size() ? llvm::join(with, ", ")
                                       : "all but " + llvm::join(without, ", ");
}

static void beginTable(llvm::raw_ostream &os, llvm::StringRef name) {
  os << "<!-- table: " << name << " -->\n";
}

static void endTable(llvm::raw_ostream &os) { os << "<!-- end of table -->\n"; }

static void printTargetTable(llvm::raw_ostream &os) {
  beginTable(os, "targets");
  os << "| target | family | lowest `.version` | shared memory per block |\n"
        "|---|---|---|---|\n";
  for (const TargetInfo &target : getTargets())
    os << "| " << target.name << " | " << target.family << " | "
       << spell(target.minPtxVersion) << " | " << target.maxSharedBytes
       << " |\n";
  endTable(os);
}

/// The versions at which targets take `capability`, where they differ from the
/// target's own minimum: `8.4`, or `7.8 (sm_89: 8.1)`.
static std::string versionsOf(Capability capability) {
  // The lowest version at which any target takes it is the table's; a target
  // that needs more than that and more than its own minimum is an exception.
  PtxVersion lowest = 0;
  for (const TargetInfo &target : getTargets())
    if (target.has(capability)) {
      PtxVersion version = target.ptxVersionFor(capability);
      lowest = lowest ? std::min(lowest, version) : version;
    }
  std::string text = spell(lowest);
  for (const TargetInfo &target : getTargets())
    if (target.has(capability)) {
      PtxVersion version = target.ptxVersionFor(capability);
      if (version > lowest && version > target.minPtxVersion)
        text += " (" + target.name.str() + ": " + spell(version) + ")";
    }
  return text;
}

static void printCapabilityTable(llvm::raw_ostream &os) {
  beginTable(os, "capabilities");
  os << "| capability | lowest `.version` | targets |\n|---|---|---|\n";
  for (Capability capability : allCapabilities())
    os << "| `" << getCapabilityName(capability) << "` | "
       << versionsOf(capability) << " | "
       << listWhere(
              [&](const TargetInfo &target) { return target.has(capability); })
       << " |\n";
  endTable(os);
}

using Selector = const MmaAtom *(const MmaQuery &, const TargetInfo &);

/// One row: what is multiplied, with which instruction, and where.
static void printPathRow(llvm::raw_ostream &os, const MmaQuery &query,
                         Selector *select) {
  const MmaAtom *atom = nullptr;
  std::string targets = listWhere([&](const TargetInfo &target) {
    const MmaAtom *selected = select(query, target);
    if (selected)
      atom = selected;
    return selected != nullptr;
  });
  os << "| " << getFormatInfo(query.lhs).name << " | "
     << getFormatInfo(query.rhs).name << " | ";
  if (query.lhsScale)
    os << getFormatInfo(*query.lhsScale).name << ", " << query.blockSize;
  else
    os << "none";
  os << " | " << targets << " | ";
  if (!atom)
    os << "none |\n";
  else if (query.lhsScale && atom->blockSize != query.blockSize)
    os << '`' << atom->name << "`, twice |\n";
  else
    os << '`' << atom->name << "` |\n";
}

/// The rows of a multiply: by warps, and in tensor memory.
static void printPathRows(llvm::raw_ostream &os, const MmaQuery &query) {
  for (Selector *select : {selectNativeAtom, selectTensorAtom})
    printPathRow(os, query, select);
}

static void printPathTable(llvm::raw_ostream &os) {
  beginTable(os, "paths");
  os << "| lhs | rhs | scale, values per scale | native on | instruction |\n"
        "|---|---|---|---|---|\n";
  for (const FormatInfo &lhs : getFormats())
    for (const FormatInfo &rhs : getFormats())
      for (const FormatInfo &scale : getFormats())
        for (unsigned blockSize : {16u, 32u})
          if (isLegalBlockScale(lhs.format, scale.format, blockSize) &&
              isLegalBlockScale(rhs.format, scale.format, blockSize))
            printPathRows(os, {lhs.format, rhs.format, scale.format,
                               scale.format, blockSize});
  auto isFp8 = [](ElementFormat format) {
    return format == ElementFormat::F8E4M3FN || format == ElementFormat::F8E5M2;
  };
  auto is16Bit = [](ElementFormat format) {
    return format == ElementFormat::BF16 || format == ElementFormat::F16;
  };
  for (const FormatInfo &lhs : getFormats())
    for (const FormatInfo &rhs : getFormats())
      if ((isFp8(lhs.format) && isFp8(rhs.format)) ||
          (is16Bit(lhs.format) && lhs.format == rhs.format))
        printPathRows(os,
                      {lhs.format, rhs.format, std::nullopt, std::nullopt, 0});
  endTable(os);
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::cl::ParseCommandLineOptions(argc, argv,
                                    "Prints the target tables for tests\n");
  if (outputFormat == OutputFormat::Json) {
    printJson(llvm::outs());
    return 0;
  }
  printTargetTable(llvm::outs());
  printCapabilityTable(llvm::outs());
  printPathTable(llvm::outs());
  return 0;
}
