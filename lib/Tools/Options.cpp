//===- Options.cpp - Command lines of the tile tools ----------------------===//

#include "tile/Tools/Options.h"

#include "tile/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace llvm::opt;
using namespace tile;

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

#define OPTTABLE_STR_TABLE_CODE
#include "tile/Tools/Options.inc"
#undef OPTTABLE_STR_TABLE_CODE

#define OPTTABLE_PREFIXES_TABLE_CODE
#include "tile/Tools/Options.inc"
#undef OPTTABLE_PREFIXES_TABLE_CODE

static constexpr OptTable::Info optionInfos[] = {
#define OPTION(...) LLVM_CONSTRUCT_OPT_INFO(__VA_ARGS__),
#include "tile/Tools/Options.inc"
#undef OPTION
};

namespace {
class ToolOptTable : public GenericOptTable {
public:
  ToolOptTable()
      : GenericOptTable(OptionStrTable, OptionPrefixesTable, optionInfos) {
    // After `--`, everything is an argument, even what begins with `-`.
    setDashDashParsing(true);
  }
};
} // namespace

const OptTable &tile::getToolOptions() {
  static const ToolOptTable table;
  return table;
}

/// How a message spells an option: without the `=` of its joined form.
static std::string spell(const Option &option) {
  return StringRef(option.getPrefixedName()).rtrim('=').str();
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

static Error unknownOption(const ToolInfo &tool, StringRef spelling) {
  // `--emitt=ptx` has no option of that name either; compare the name alone.
  auto [name, value] = spelling.split('=');
  for (const OptTable::Info &info : optionInfos) {
    const Option option = getToolOptions().getOption(info.ID);
    if (name.size() != spelling.size() &&
        option.getKind() == Option::FlagClass &&
        (info.Visibility & tool.visibility) && option.getPrefixedName() == name)
      return createStringError("option '" + name +
                               "' takes no value, but got '" + value + "'");
  }
  std::string nearest;
  unsigned distance = getToolOptions().findNearest(
      spelling, nearest, opt::Visibility(tool.visibility));
  std::string hint;
  if (distance <= 2)
    hint =
        "; did you mean '" + StringRef(nearest).split('=').first.str() + "'?";
  return createStringError("unknown option '" + name + "'" + hint);
}

/// Checks the value of an option against the list in the table, if it has one.
static Error checkListedValue(const Arg &arg) {
  const Option &option = arg.getOption();
  const char *values = optionInfos[option.getID() - 1].Values;
  if (!values)
    return Error::success();
  SmallVector<StringRef> allowed;
  StringRef(values).split(allowed, ',');
  if (is_contained(allowed, StringRef(arg.getValue())))
    return Error::success();
  std::string list;
  for (auto [index, value] : enumerate(allowed)) {
    if (index)
      list += index + 1 == allowed.size() ? " or " : ", ";
    list += "'" + value.str() + "'";
  }
  return createStringError(spell(option) + " expects " + list + ", but got '" +
                           arg.getValue() + "'");
}

Expected<InputArgList> tile::parseToolOptions(const ToolInfo &tool,
                                              ArrayRef<const char *> argv) {
  unsigned missingIndex, missingCount;
  InputArgList args =
      getToolOptions().ParseArgs(argv.drop_front(), missingIndex, missingCount,
                                 opt::Visibility(tool.visibility));
  // Help is given even where the rest of the line is wrong.
  if (args.hasArg(OPT_help, OPT_version))
    return std::move(args);
  for (const Arg *arg : args.filtered(OPT_UNKNOWN))
    return unknownOption(tool, arg->getAsString(args));
  if (missingCount)
    return createStringError(Twine("option '") +
                             args.getArgString(missingIndex) +
                             "' expects a value");

  // LLVM's parser drops empty arguments, and what follows would move up.
  for (auto [index, text] : enumerate(argv.drop_front())) {
    auto holds = [&, index = index, text = text](const Arg *arg) {
      return arg->getNumValues() && arg->getValue() == text &&
             (arg->getIndex() == index || arg->getIndex() + 1 == index);
    };
    if (!*text && none_of(args, holds))
      return createStringError("expects a file or an option, but argument " +
                               Twine(index + 1) +
                               " of the command line is empty");
  }

  // An option that is given twice and means two things is a mistake; the last
  // one must not win silently.
  const Arg *seen[std::size(optionInfos)] = {};
  for (const Arg *arg : args) {
    const Option &option = arg->getOption();
    unsigned id = option.getID();
    if (id == OPT_INPUT || option.getKind() == Option::FlagClass)
      continue;
    if (!*arg->getValue())
      return createStringError("option '" + spell(option) +
                               "' expects a value");
    if (id == OPT_D)
      continue;
    if (const Arg *&first = seen[id - 1]; !first)
      first = arg;
    else if (StringRef(first->getValue()) != arg->getValue())
      return createStringError("option '" + spell(option) +
                               "' is given twice, as '" + first->getValue() +
                               "' and as '" + arg->getValue() + "'");
    if (Error error = checkListedValue(*arg))
      return std::move(error);
  }
  return std::move(args);
}

//===----------------------------------------------------------------------===//
// Help
//===----------------------------------------------------------------------===//

// LLVM's own printer does not break lines.

constexpr unsigned helpWidth = 80;
constexpr unsigned helpColumn = 22;

/// Prints `text` broken at blanks; the cursor is in column `column`, and
/// further lines begin there.
static void printWrapped(StringRef text, unsigned column) {
  unsigned cursor = column;
  while (!text.empty()) {
    auto [word, rest] = text.split(' ');
    if (cursor > column && cursor + 1 + word.size() > helpWidth) {
      outs() << '\n';
      outs().indent(column);
      cursor = column;
    } else if (cursor > column) {
      outs() << ' ';
      ++cursor;
    }
    outs() << word;
    cursor += word.size();
    text = rest;
  }
  outs() << '\n';
}

static void printOption(unsigned id, StringRef help) {
  const Option option = getToolOptions().getOption(id);
  std::string name = "  ";
  name += option.getPrefixedName();
  if (const char *value = getToolOptions().getOptionMetaVar(id))
    name += (option.getKind() == Option::JoinedClass ? "" : " ") +
            std::string(value);
  outs() << name;
  unsigned used = name.size();
  if (used + 2 > helpColumn) {
    outs() << '\n';
    used = 0;
  }
  outs().indent(helpColumn - used);
  printWrapped(help, helpColumn);
}

static void printHelp(const ToolInfo &tool) {
  outs() << "USAGE: " << tool.usage << "\n\n";
  printWrapped(tool.overview, 0);
  const OptTable &table = getToolOptions();
  // What a tool alone has comes first, what every tool has last.
  for (unsigned group : {OPT_grp_run, OPT_grp_emulator, OPT_grp_output,
                         OPT_grp_kernel, OPT_grp_general}) {
    bool first = true;
    for (const OptTable::Info &info : optionInfos) {
      const char *help =
          table.getOptionHelpText(info.ID, opt::Visibility(tool.visibility));
      if (info.GroupID != group || !help ||
          !(info.Visibility & tool.visibility))
        continue;
      if (first)
        outs() << '\n' << table.getOptionHelpText(group) << ":\n";
      first = false;
      printOption(info.ID, help);
    }
  }
  outs() << tool.epilogue;
}

bool tile::printHelpOrVersion(const ToolInfo &tool, const InputArgList &args) {
  if (args.hasArg(OPT_help)) {
    printHelp(tool);
    return true;
  }
  if (args.hasArg(OPT_version)) {
    outs() << tool.name << ' ' << TILE_VERSION << " (LLVM "
           << LLVM_VERSION_STRING << ")\n";
    return true;
  }
  return false;
}

char ReportedError::ID = 0;

void ReportedError::log(raw_ostream &os) const {
  os << "stopped by the errors above";
}

std::error_code ReportedError::convertToErrorCode() const {
  return inconvertibleErrorCode();
}

void tile::reportError(const ToolInfo &tool, Error error) {
  handleAllErrors(
      std::move(error), [](const ReportedError &) {},
      [](const KernelTextError &e) { errs() << e.message() << '\n'; },
      [&](const ErrorInfoBase &e) {
        errs() << tool.name << ": error: " << e.message() << '\n';
      });
}

int tile::runTool(const ToolInfo &tool, ArrayRef<const char *> argv,
                  function_ref<Error(const InputArgList &)> run) {
  Expected<InputArgList> args = parseToolOptions(tool, argv);
  if (!args) {
    reportError(tool, args.takeError());
    return 1;
  }
  if (printHelpOrVersion(tool, *args))
    return 0;
  if (Error error = run(*args)) {
    reportError(tool, std::move(error));
    return 1;
  }
  return 0;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

std::optional<StringRef> tile::getValue(const InputArgList &args,
                                        OptionID option) {
  if (const Arg *arg = args.getLastArg(option))
    return StringRef(arg->getValue());
  return std::nullopt;
}

Expected<std::optional<int64_t>> tile::getInteger(const InputArgList &args,
                                                  OptionID option, int64_t min,
                                                  int64_t max) {
  std::optional<StringRef> text = getValue(args, option);
  if (!text)
    return std::nullopt;
  int64_t value;
  if (text->getAsInteger(10, value) || value < min || value > max)
    return createStringError(spell(getToolOptions().getOption(option)) +
                             " expects an integer from " + Twine(min) + " to " +
                             Twine(max) + ", but got '" + *text + "'");
  return value;
}

Expected<std::optional<std::array<unsigned, 3>>>
tile::getExtents(const InputArgList &args, OptionID option,
                 const std::array<unsigned, 3> &limits) {
  std::optional<StringRef> text = getValue(args, option);
  if (!text)
    return std::nullopt;
  const std::string name = spell(getToolOptions().getOption(option));
  std::array<unsigned, 3> extents = {1, 1, 1};
  SmallVector<StringRef, 3> parts;
  text->split(parts, ',');
  if (parts.size() > 3)
    return createStringError(name + " expects at most 3 dimensions, but got '" +
                             *text + "'");
  for (auto [dim, part] : enumerate(parts))
    if (part.getAsInteger(10, extents[dim]) || extents[dim] < 1 ||
        extents[dim] > limits[dim])
      return createStringError(name + " expects dimension " + Twine(dim) +
                               " to be an integer from 1 to " +
                               Twine(limits[dim]) + ", but got '" + part + "'");
  return extents;
}

Expected<std::array<unsigned, 3>> tile::getGrid(const InputArgList &args) {
  Expected<std::optional<std::array<unsigned, 3>>> grid =
      getExtents(args, OPT_grid, {2147483647, 65535, 65535});
  if (!grid)
    return grid.takeError();
  if (!*grid)
    return createStringError("--grid is required, such as --grid=4,8");
  return **grid;
}

/// `8.8` is 88. Minor versions have one digit.
static Expected<unsigned> parsePtxVersion(StringRef text) {
  auto [major, minor] = text.split('.');
  unsigned majorValue, minorValue;
  if (major.getAsInteger(10, majorValue) || majorValue == 0 ||
      majorValue > 99 || minor.size() != 1 ||
      minor.getAsInteger(10, minorValue))
    return createStringError("--ptx-version expects X.Y, such as 8.8, but got "
                             "'" +
                             text + "'");
  return majorValue * 10 + minorValue;
}

Expected<CompileOptions> tile::getCompileOptions(const InputArgList &args) {
  CompileOptions options;
  options.target = args.getLastArgValue(OPT_target).str();
  options.mmaPath = args.getLastArgValue(OPT_mma_path, "auto").str();
  options.fp4Cvt = args.getLastArgValue(OPT_fp4_cvt, "auto").str();
  options.unpackAhead = args.getLastArgValue(OPT_unpack_ahead, "auto").str();
  options.tma = args.getLastArgValue(OPT_tma, "off") == "on";
  options.lineInfo = args.hasArg(OPT_lineinfo);
  options.dumpStages = args.getLastArgValue(OPT_dump_stages).str();

  if (std::optional<StringRef> text = getValue(args, OPT_num_warps)) {
    unsigned warps;
    if (text->getAsInteger(10, warps) || !isPowerOf2_32(warps) || warps > 32)
      return createStringError("--num-warps expects a power of two from 1 to "
                               "32, but got '" +
                               *text + "'");
    options.numWarps = warps;
  }
  // More stages than this do not fit in any shared memory.
  Expected<std::optional<int64_t>> stages =
      getInteger(args, OPT_num_stages, 1, kMaxStages);
  if (!stages)
    return stages.takeError();
  options.numStages = stages->value_or(0);
  Expected<std::optional<int64_t>> group =
      getInteger(args, OPT_group_programs, 0, kMaxProgramGroup);
  if (!group)
    return group.takeError();
  if (*group)
    options.groupPrograms = **group;

  if (std::optional<StringRef> text = getValue(args, OPT_ptx_version)) {
    Expected<unsigned> version = parsePtxVersion(*text);
    if (!version)
      return version.takeError();
    options.ptxVersion = *version;
  }
  return options;
}

Expected<TemplateConstants>
tile::getTemplateConstants(const InputArgList &args) {
  TemplateConstants constants;
  for (const std::string &definition : args.getAllArgValues(OPT_D))
    if (Error error = constants.addDefinition(definition))
      return createStringError("-D" + definition + ": " +
                               toString(std::move(error)));
  return std::move(constants);
}
