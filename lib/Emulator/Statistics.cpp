//===- Statistics.cpp - What an emulated launch did -----------------------===//

#include "tile/Emulator/Statistics.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <iterator>
#include <numeric>

using namespace tile::emulator;
using llvm::raw_ostream;
using llvm::StringRef;

/// Bytes of a sector of global memory.
static constexpr uint64_t kSectorBytes = 32;

//===----------------------------------------------------------------------===//
// Counters
//===----------------------------------------------------------------------===//

StringRef tile::emulator::getInstructionClassName(InstructionClass kind) {
  // In the order of the enumeration.
  static constexpr llvm::StringLiteral names[] = {
      "integer",     "logic",        "move",        "compare",
      "float32",     "float16",      "float64",     "special",
      "convert",     "control",      "warp",        "mma",
      "load-global", "store-global", "load-shared", "store-shared",
      "load-tensor", "store-tensor", "load-other",  "store-other",
      "matrix",      "atomic",       "async-copy",  "barrier",
      "other"};
  static_assert(std::size(names) == kNumInstructionClasses,
                "one name per class");
  return names[static_cast<unsigned>(kind)];
}

InstructionCounters &
InstructionCounters::operator+=(const InstructionCounters &other) {
  issued += other.issued;
  threads += other.threads;
  divergent += other.divergent;
  bytes += other.bytes;
  sectors += other.sectors;
  wavefronts += other.wavefronts;
  idealWavefronts += other.idealWavefronts;
  return *this;
}

static uint64_t sum(const uint64_t (&counts)[kNumInstructionClasses]) {
  return std::accumulate(std::begin(counts), std::end(counts), uint64_t(0));
}

/// Wavefronts beyond those that the bytes need at best.
static uint64_t getConflicts(uint64_t wavefronts, uint64_t ideal) {
  return wavefronts > ideal ? wavefronts - ideal : 0;
}

/// Requested bytes per byte moved; above 1 where lanes read the same bytes.
/// Requires: `sectors` is not 0.
static double getEfficiency(uint64_t bytes, uint64_t sectors) {
  return static_cast<double>(bytes) /
         (static_cast<double>(sectors) * kSectorBytes);
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

namespace {
/// A table whose columns are as wide as what stands in them. Columns are right
/// aligned but for those named so.
class Table {
public:
  explicit Table(llvm::ArrayRef<StringRef> header,
                 llvm::ArrayRef<unsigned> leftAligned)
      : left(leftAligned.begin(), leftAligned.end()) {
    addRow(std::vector<std::string>(header.begin(), header.end()));
  }

  void addRow(std::vector<std::string> cells) {
    rows.push_back(std::move(cells));
  }

  void print(raw_ostream &os) const {
    std::vector<size_t> widths(rows.front().size(), 0);
    for (const std::vector<std::string> &row : rows)
      for (auto [column, cell] : llvm::enumerate(row))
        widths[column] = std::max(widths[column], cell.size());
    for (const std::vector<std::string> &row : rows) {
      std::string line;
      for (auto [column, cell] : llvm::enumerate(row)) {
        const std::string padding(widths[column] - cell.size(), ' ');
        line += "  ";
        line +=
            llvm::is_contained(left, column) ? cell + padding : padding + cell;
      }
      os << StringRef(line).rtrim() << '\n';
    }
  }

private:
  std::vector<unsigned> left;
  std::vector<std::vector<std::string>> rows;
};
} // namespace

/// 1234567 as `1,234,567`.
static std::string group(uint64_t number) {
  return llvm::formatv("{0:n}", number).str();
}

static std::string percent(uint64_t part, uint64_t whole) {
  if (whole == 0)
    return "-";
  return llvm::formatv("{0:f1}%", 100.0 * static_cast<double>(part) /
                                      static_cast<double>(whole))
      .str();
}

static std::string printEfficiency(uint64_t bytes, uint64_t sectors) {
  if (sectors == 0)
    return "-";
  return llvm::formatv("{0:f1}%", 100.0 * getEfficiency(bytes, sectors)).str();
}

/// Or a dash, where a count does not apply to an instruction.
static std::string dash(uint64_t number) {
  return number ? group(number) : "-";
}

/// Printers of PTX put tabs between opcode and operands.
static std::string replaceTabs(StringRef text) {
  std::string result;
  for (char c : text)
    if (!llvm::isSpace(c))
      result += c;
    else if (!StringRef(result).ends_with(" "))
      result += ' ';
  return result;
}

static void printLines(raw_ostream &os,
                       llvm::ArrayRef<Statistics::Line> lines) {
  os << "\nPer instruction:\n";
  const bool hasSource = llvm::any_of(
      lines, [](const Statistics::Line &line) { return !line.source.empty(); });
  std::vector<StringRef> header = {"line",       "issued",     "threads",
                                   "divergent",  "bytes",      "sectors",
                                   "efficiency", "wavefronts", "conflicts"};
  std::vector<unsigned> left;
  if (hasSource) {
    left.push_back(header.size());
    header.push_back("source");
  }
  left.push_back(header.size());
  header.push_back("instruction");
  Table table(header, left);
  for (const Statistics::Line &line : lines) {
    const InstructionCounters &counters = line.counters;
    std::vector<std::string> row = {
        std::to_string(line.line),
        group(counters.issued),
        group(counters.threads),
        dash(counters.divergent),
        dash(counters.bytes),
        dash(counters.sectors),
        printEfficiency(counters.bytes, counters.sectors),
        dash(counters.wavefronts),
        dash(getConflicts(counters.wavefronts, counters.idealWavefronts))};
    if (hasSource)
      row.push_back(line.source);
    row.push_back(replaceTabs(line.instruction));
    table.addRow(std::move(row));
  }
  table.print(os);
}

void Statistics::print(raw_ostream &os, bool perLine) const {
  const uint64_t issued = sum(total.issued), threads = sum(total.threads);
  os << "Launch: " << group(blocks) << (blocks == 1 ? " block, " : " blocks, ")
     << group(warps) << (warps == 1 ? " warp\n" : " warps\n");
  os << "Instructions: " << group(issued) << " issued by warps, "
     << group(threads) << " by threads; " << group(minWarpInstructions)
     << " to " << group(maxWarpInstructions) << " per warp; "
     << group(total.divergent) << " divergent\n";

  if (issued) {
    os << '\n';
    Table table({"class", "issued", "share", "threads"}, {0});
    for (unsigned i = 0; i < kNumInstructionClasses; ++i)
      if (total.issued[i])
        table.addRow(
            {getInstructionClassName(static_cast<InstructionClass>(i)).str(),
             group(total.issued[i]), percent(total.issued[i], issued),
             group(total.threads[i])});
    table.print(os);
  }
  if (!mmas.empty()) {
    os << '\n';
    Table table({"tensor-core instruction", "issued"}, {0});
    for (const auto &[opcode, count] : mmas)
      table.addRow({opcode, group(count)});
    table.print(os);
  }

  os << '\n';
  Table global({"global memory", "bytes", "sectors", "efficiency"}, {0});
  global.addRow(
      {"loads", group(total.globalLoadBytes), group(total.globalLoadSectors),
       printEfficiency(total.globalLoadBytes, total.globalLoadSectors)});
  global.addRow(
      {"stores", group(total.globalStoreBytes), group(total.globalStoreSectors),
       printEfficiency(total.globalStoreBytes, total.globalStoreSectors)});
  global.print(os);
  os << "\nShared memory: " << group(total.sharedLoadBytes) << " bytes loaded, "
     << group(total.sharedStoreBytes) << " bytes stored, "
     << group(total.sharedWavefronts) << " wavefronts, of which "
     << group(getConflicts(total.sharedWavefronts, total.sharedIdealWavefronts))
     << " are bank conflicts\n";
  if (total.tensorLoadBytes || total.tensorStoreBytes)
    os << "Tensor memory: " << group(total.tensorLoadBytes) << " bytes loaded, "
       << group(total.tensorStoreBytes) << " bytes stored\n";
  os << "Async copies: " << group(total.asyncCopies) << " of "
     << group(total.asyncCopyBytes) << " bytes in all\n";
  os << "Barriers: " << group(total.barriers) << '\n';
  if (perLine)
    printLines(os, lines);
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static void printTraffic(llvm::json::OStream &json, uint64_t bytes,
                         uint64_t sectors) {
  json.attribute("bytes", bytes);
  json.attribute("sectors", sectors);
  // No number where nothing moved.
  if (sectors)
    json.attribute("efficiency", getEfficiency(bytes, sectors));
  else
    json.attribute("efficiency", nullptr);
}

static void printLine(llvm::json::OStream &json, const Statistics::Line &line) {
  const InstructionCounters &counters = line.counters;
  json.attribute("line", line.line);
  if (!line.source.empty())
    json.attribute("source", line.source);
  json.attribute("instruction", line.instruction);
  json.attribute("class", getInstructionClassName(line.instructionClass));
  json.attribute("issued", counters.issued);
  json.attribute("threads", counters.threads);
  json.attribute("divergent", counters.divergent);
  printTraffic(json, counters.bytes, counters.sectors);
  json.attribute("wavefronts", counters.wavefronts);
  json.attribute("bank-conflicts",
                 getConflicts(counters.wavefronts, counters.idealWavefronts));
}

void Statistics::printJson(raw_ostream &os, bool perLine) const {
  llvm::json::OStream json(os, /*IndentSize=*/2);
  json.object([&] {
    json.attribute("blocks", blocks);
    json.attribute("warps", warps);
    json.attributeObject("instructions", [&] {
      json.attribute("issued", sum(total.issued));
      json.attribute("threads", sum(total.threads));
      json.attribute("divergent", total.divergent);
      json.attribute("min-per-warp", minWarpInstructions);
      json.attribute("max-per-warp", maxWarpInstructions);
      json.attributeObject("classes", [&] {
        for (unsigned i = 0; i < kNumInstructionClasses; ++i)
          json.attributeObject(
              getInstructionClassName(static_cast<InstructionClass>(i)), [&] {
                json.attribute("issued", total.issued[i]);
                json.attribute("threads", total.threads[i]);
              });
      });
    });
    json.attributeObject("mma", [&] {
      for (const auto &[opcode, count] : mmas)
        json.attribute(opcode, count);
    });
    json.attributeObject("global-loads", [&] {
      printTraffic(json, total.globalLoadBytes, total.globalLoadSectors);
    });
    json.attributeObject("global-stores", [&] {
      printTraffic(json, total.globalStoreBytes, total.globalStoreSectors);
    });
    json.attributeObject("shared", [&] {
      json.attribute("load-bytes", total.sharedLoadBytes);
      json.attribute("store-bytes", total.sharedStoreBytes);
      json.attribute("wavefronts", total.sharedWavefronts);
      json.attribute("ideal-wavefronts", total.sharedIdealWavefronts);
      json.attribute(
          "bank-conflicts",
          getConflicts(total.sharedWavefronts, total.sharedIdealWavefronts));
    });
    json.attributeObject("tensor", [&] {
      json.attribute("load-bytes", total.tensorLoadBytes);
      json.attribute("store-bytes", total.tensorStoreBytes);
    });
    json.attributeObject("async-copies", [&] {
      json.attribute("count", total.asyncCopies);
      json.attribute("bytes", total.asyncCopyBytes);
    });
    json.attribute("barriers", total.barriers);
    if (perLine)
      json.attributeArray("lines", [&] {
        for (const Line &line : lines)
          json.object([&] { printLine(json, line); });
      });
  });
  os << '\n';
}
