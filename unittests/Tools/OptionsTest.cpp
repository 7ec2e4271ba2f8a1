//===- OptionsTest.cpp - Command lines of the tile tools ------------------===//

#include "tile/Tools/Options.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace tile;

namespace {

constexpr ToolInfo tileCompile = {"tile-compile", CompileOption, "", "", ""};
constexpr ToolInfo tileRun = {"tile-run", RunOption, "", "", ""};

Expected<opt::InputArgList> parse(const ToolInfo &tool,
                                  std::vector<const char *> argv) {
  argv.insert(argv.begin(), "tool");
  return parseToolOptions(tool, argv);
}

/// The message of the error that `argv` leads to, or "".
std::string getError(const ToolInfo &tool, std::vector<const char *> argv) {
  Expected<opt::InputArgList> args = parse(tool, std::move(argv));
  return args ? "" : toString(args.takeError());
}

/// The message of the error that the values in `argv` lead to, or "".
std::string getCompileError(std::vector<const char *> argv) {
  opt::InputArgList args = cantFail(parse(tileCompile, std::move(argv)));
  Expected<CompileOptions> options = getCompileOptions(args);
  return options ? "" : toString(options.takeError());
}

TEST(OptionsTest, ReadsEveryCompileOption) {
  opt::InputArgList args = cantFail(
      parse(tileCompile,
            {"k.mlir", "--target=sm_120a", "--num-warps=8", "--num-stages", "3",
             "--mma-path=expand", "--fp4-cvt", "software", "--ptx-version=8.8",
             "--lineinfo", "--dump-stages=d", "-DBM=16", "-D", "BN=32"}));
  CompileOptions options = cantFail(getCompileOptions(args));
  EXPECT_EQ(options.target, "sm_120a");
  EXPECT_EQ(options.numWarps, 8u);
  EXPECT_EQ(options.numStages, 3u);
  EXPECT_EQ(options.mmaPath, "expand");
  EXPECT_EQ(options.fp4Cvt, "software");
  EXPECT_EQ(options.ptxVersion, 88u);
  EXPECT_TRUE(options.lineInfo);
  EXPECT_EQ(options.dumpStages, "d");
  TemplateConstants constants = cantFail(getTemplateConstants(args));
  EXPECT_EQ(*constants.find("BM"), "16");
  EXPECT_EQ(*constants.find("BN"), "32");
  EXPECT_EQ(args.getAllArgValues(OPT_INPUT),
            std::vector<std::string>{"k.mlir"});
}

TEST(OptionsTest, LeavesWhatIsNotGivenOpen) {
  opt::InputArgList args = cantFail(parse(tileCompile, {"-"}));
  CompileOptions options = cantFail(getCompileOptions(args));
  EXPECT_EQ(options.target, "");
  EXPECT_EQ(options.numWarps, 0u);
  EXPECT_EQ(options.numStages, 0u);
  EXPECT_EQ(options.mmaPath, "auto");
  EXPECT_EQ(options.fp4Cvt, "auto");
  EXPECT_EQ(options.ptxVersion, 0u);
  EXPECT_FALSE(options.lineInfo);
  EXPECT_TRUE(cantFail(getTemplateConstants(args)).empty());
}

TEST(OptionsTest, AnOptionOfAnotherToolIsUnknown) {
  EXPECT_EQ(getError(tileRun, {"--grid=1"}), "");
  EXPECT_EQ(getError(tileCompile, {"--grid=1"}), "unknown option '--grid'");
  EXPECT_EQ(getError(tileRun, {"--emit=ptx"}), "unknown option '--emit'");
}

TEST(OptionsTest, AMistypedOptionGetsAHint) {
  EXPECT_EQ(getError(tileCompile, {"--taget=sm_80"}),
            "unknown option '--taget'; did you mean '--target'?");
  EXPECT_EQ(getError(tileCompile, {"--remark"}),
            "unknown option '--remark'; did you mean '--remarks'?");
  EXPECT_EQ(getError(tileCompile, {"--xyzzy"}), "unknown option '--xyzzy'");
}

TEST(OptionsTest, AMissingValueIsAnError) {
  EXPECT_EQ(getError(tileCompile, {"k.mlir", "--target"}),
            "option '--target' expects a value");
  EXPECT_EQ(getError(tileCompile, {"k.mlir", "--target="}),
            "option '--target' expects a value");
  EXPECT_EQ(getError(tileCompile, {"k.mlir", "-o"}),
            "option '-o' expects a value");
  EXPECT_EQ(getError(tileCompile, {"k.mlir", "-D"}),
            "option '-D' expects a value");
}

TEST(OptionsTest, AValueOutsideTheListIsAnError) {
  EXPECT_EQ(getError(tileCompile, {"--emit=sass"}),
            "--emit expects 'mlir', 'nvvm', 'llvm', 'ptx' or 'cubin', but got "
            "'sass'");
  EXPECT_EQ(getError(tileCompile, {"--mma-path=fast"}),
            "--mma-path expects 'auto', 'native' or 'expand', but got 'fast'");
  EXPECT_EQ(getError(tileRun, {"--stats=xml"}),
            "--stats expects 'json', but got 'xml'");
}

TEST(OptionsTest, TwoValuesForOneOptionAreAnError) {
  EXPECT_EQ(getError(tileCompile, {"--target=sm_80", "--target", "sm_90"}),
            "option '--target' is given twice, as 'sm_80' and as 'sm_90'");
  EXPECT_EQ(getError(tileCompile, {"--target=sm_80", "--target=sm_80"}), "");
}

TEST(OptionsTest, NumbersAreChecked) {
  for (const char *good : {"--num-warps=1", "--num-warps=32", "--num-stages=1",
                           "--ptx-version=9.0"})
    EXPECT_EQ(getCompileError({good}), "");
  for (const char *bad : {"0", "3", "64", "-4", "4x", "0x4"})
    EXPECT_EQ(getCompileError({"--num-warps", bad}),
              std::string("--num-warps expects a power of two from 1 to 32, "
                          "but got '") +
                  bad + "'");
  EXPECT_EQ(getCompileError({"--num-stages=0"}),
            "--num-stages expects an integer from 1 to 8, but got '0'");
  for (const char *bad : {"88", "8", "8.", "8.10", ".8", "8.x", "1.2.3"})
    EXPECT_EQ(getCompileError({"--ptx-version", bad}),
              std::string("--ptx-version expects X.Y, such as 8.8, but got '") +
                  bad + "'");
}

TEST(OptionsTest, FlagsTakeNoValue) {
  EXPECT_EQ(getError(tileCompile, {"k.mlir", "--lineinfo=1"}),
            "option '--lineinfo' takes no value, but got '1'");
  EXPECT_EQ(getError(tileRun, {"k.mlir", "--remarks="}),
            "option '--remarks' takes no value, but got ''");
  // These have both forms.
  EXPECT_EQ(getError(tileRun, {"k.mlir", "--stats", "--stats=json"}), "");
}

TEST(OptionsTest, EmptyArgumentsAreNotDropped) {
  const std::vector<std::string> texts = {"a", "", "b"};
  EXPECT_EQ(
      getError(tileRun, {texts[0].c_str(), texts[1].c_str(), texts[2].c_str()}),
      "expects a file or an option, but argument 2 of the command line "
      "is empty");
  // A value that is missing, and an argument beyond doubt.
  EXPECT_EQ(getError(tileRun, {"k.mlir", "--grid", texts[1].c_str()}),
            "option '--grid' expects a value");
  opt::InputArgList args =
      cantFail(parse(tileRun, {"k.mlir", "--", texts[1].c_str(), "b"}));
  std::vector<std::string> expected = {"k.mlir", "", "b"};
  EXPECT_EQ(args.getAllArgValues(OPT_INPUT), expected);
}

TEST(OptionsTest, HelpIsGivenWhereTheRestIsWrong) {
  EXPECT_EQ(getError(tileCompile, {"--nonsense", "--help"}), "");
}

TEST(OptionsTest, EverythingAfterTwoDashesIsAnArgument) {
  opt::InputArgList args =
      cantFail(parse(tileRun, {"--grid=1", "--", "-k.mlir", "--grid=2"}));
  std::vector<std::string> expected = {"-k.mlir", "--grid=2"};
  EXPECT_EQ(args.getAllArgValues(OPT_INPUT), expected);
}

std::string getGridError(const char *text) {
  opt::InputArgList args = cantFail(parse(tileRun, {"--grid", text}));
  Expected<std::array<unsigned, 3>> grid = getGrid(args);
  return grid ? "" : toString(grid.takeError());
}

TEST(OptionsTest, ExtentsThatAreLeftOutAreOne) {
  opt::InputArgList args = cantFail(parse(tileRun, {"--grid=2147483647,7"}));
  std::array<unsigned, 3> expected = {2147483647, 7, 1};
  EXPECT_EQ(cantFail(getGrid(args)), expected);
}

TEST(OptionsTest, ExtentsAreChecked) {
  EXPECT_EQ(getGridError("1,2,3,4"),
            "--grid expects at most 3 dimensions, but got '1,2,3,4'");
  for (const char *bad : {"", "0", "-1", "65536", "4294967297", "1x", " 1"})
    EXPECT_EQ(getGridError(("1," + std::string(bad)).c_str()),
              std::string("--grid expects dimension 1 to be an integer from 1 "
                          "to 65535, but got '") +
                  bad + "'");
  opt::InputArgList args = cantFail(parse(tileRun, {}));
  EXPECT_EQ(toString(getGrid(args).takeError()),
            "--grid is required, such as --grid=4,8");
}

TEST(OptionsTest, AToolIsRunWhereItsCommandLineIsGood) {
  unsigned runs = 0;
  auto run = [&](std::vector<const char *> argv, bool fails) {
    argv.insert(argv.begin(), "tool");
    return runTool(tileRun, argv, [&](const opt::InputArgList &) -> Error {
      ++runs;
      if (fails)
        return ReportedError::get();
      return Error::success();
    });
  };
  EXPECT_EQ(run({"--grid=1"}, false), 0);
  EXPECT_EQ(runs, 1u);
  EXPECT_EQ(run({"--grid=1"}, true), 1);
  EXPECT_EQ(runs, 2u);
  EXPECT_EQ(run({"--nonsense"}, false), 1);
  EXPECT_EQ(run({"--version"}, true), 0);
  EXPECT_EQ(runs, 2u);
}

} // namespace
