//===- TemplateTest.cpp - Constants in kernel files -----------------------===//

#include "tile/Tools/Template.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace tile;

namespace {

/// The constants of `definitions`, each `NAME=VALUE`.
TemplateConstants define(std::initializer_list<const char *> definitions) {
  TemplateConstants constants;
  for (const char *definition : definitions)
    cantFail(constants.addDefinition(definition));
  return constants;
}

/// The expanded text, or the message of the error.
std::string expand(StringRef text, const TemplateConstants &constants = {}) {
  Expected<std::string> result = expandTemplate(text, "k.mlir", constants);
  return result ? *result : toString(result.takeError());
}

std::string add(const char *definition) {
  TemplateConstants constants;
  return toString(constants.addDefinition(definition));
}

TEST(TemplateTest, ReplacesNamesAndKeepsEverythingElse) {
  EXPECT_EQ(expand("a ${BM}x${BN}\n$ {BM} $BM {BM}\n${ BM }",
                   define({"BM=16", "BN=128"})),
            "a 16x128\n$ {BM} $BM {BM}\n16");
  EXPECT_EQ(expand("no placeholder"), "no placeholder");
}

TEST(TemplateTest, ComputesWithTheUsualPrecedence) {
  TemplateConstants constants = define({"A=24", "B=-4"});
  EXPECT_EQ(expand("${A/8/3*B}", constants), "-4");
  EXPECT_EQ(expand("${A-8-3} ${B}", constants), "13 -4");
  EXPECT_EQ(expand("${A+B*2}", constants), "16");
  EXPECT_EQ(expand("${(A+B)*2}", constants), "40");
  EXPECT_EQ(expand("${ - ( A - -B ) }", constants), "-20");
  EXPECT_EQ(expand("${7}"), "7");
}

TEST(TemplateTest, ANameAloneMayStandForText) {
  EXPECT_EQ(expand("tensor<4x${T}>", define({"T=f8E4M3FN"})),
            "tensor<4xf8E4M3FN>");
  EXPECT_EQ(expand("${T*2}", define({"T=f16"})),
            "k.mlir:1:3: error: expects an integer value for 'T' in an "
            "expression, but got 'f16'");
}

TEST(TemplateTest, ErrorsNameThePosition) {
  TemplateConstants constants = define({"A=24"});
  EXPECT_EQ(expand("line\n  x${A} ${BM/2}", constants),
            "k.mlir:2:11: error: no value for 'BM'; give one with -DBM=VALUE");
  EXPECT_EQ(expand("${BM}", constants),
            "k.mlir:1:3: error: no value for 'BM'; give one with -DBM=VALUE");
  EXPECT_EQ(expand("${A/5}", constants),
            "k.mlir:1:4: error: expects an exact division, but 24 / 5 leaves "
            "4");
  EXPECT_EQ(expand("${A/(A-24)}", constants),
            "k.mlir:1:4: error: division of 24 by zero");
  EXPECT_EQ(expand("${A\n}", constants),
            "k.mlir:1:4: error: expects an operator or '}', but got the end of "
            "the line");
  EXPECT_EQ(expand("${A", constants),
            "k.mlir:1:4: error: expects an operator or '}', but got the end of "
            "the file");
  EXPECT_EQ(expand("${}", constants),
            "k.mlir:1:3: error: expects a name, an integer or '(', but got "
            "'}'");
  EXPECT_EQ(expand("${(A}", constants),
            "k.mlir:1:5: error: expects ')', but got '}'");
  EXPECT_EQ(expand("${A%2}", constants),
            "k.mlir:1:4: error: expects an operator or '}', but got '%'");
  EXPECT_EQ(expand("${16x}", constants),
            "k.mlir:1:3: error: expects a decimal integer, but got '16x'");
  EXPECT_EQ(expand("${A+\x80}", constants),
            "k.mlir:1:5: error: expects a name, an integer or '(', but got "
            "byte 0x80");
}

TEST(TemplateTest, OverflowIsAnError) {
  const char *max = "M=9223372036854775807";
  EXPECT_EQ(expand("${M}", define({max})), "9223372036854775807");
  EXPECT_EQ(expand("${M+1}", define({max})),
            "k.mlir:1:4: error: 9223372036854775807 + 1 does not fit in 64 "
            "bits");
  EXPECT_EQ(expand("${M*2}", define({max})),
            "k.mlir:1:4: error: 9223372036854775807 * 2 does not fit in 64 "
            "bits");
  EXPECT_EQ(expand("${(-M-1)/-1}", define({max})),
            "k.mlir:1:9: error: -9223372036854775808 / -1 does not fit in 64 "
            "bits");
  EXPECT_EQ(expand("${-(-M-1)}", define({max})),
            "k.mlir:1:3: error: the value does not fit in 64 bits");
  EXPECT_EQ(expand("${9223372036854775808}"),
            "k.mlir:1:3: error: '9223372036854775808' does not fit in 64 bits");
}

TEST(TemplateTest, DeepNestingIsAnErrorAndNotACrash) {
  std::string deep = "${" + std::string(1000000, '(');
  EXPECT_EQ(expand(deep), "k.mlir:1:104: error: expects at most 100 nested "
                          "parentheses and signs");
  EXPECT_EQ(
      expand("${" + std::string(50, '(') + "1" + std::string(50, ')') + "}"),
      "1");
}

TEST(TemplateTest, EveryConstantMustBeUsed) {
  EXPECT_EQ(expand("${A}", define({"A=1", "B=2"})),
            "-DB=2 is not used: k.mlir has no ${B}");
  EXPECT_EQ(expand("${A+B*0}", define({"A=1", "B=2"})), "1");
}

TEST(TemplateTest, DefinitionsAreChecked) {
  EXPECT_EQ(add("BM=16"), "");
  EXPECT_EQ(add("_m1=16"), "");
  EXPECT_EQ(add("BM"), "expects NAME=VALUE, but got 'BM'");
  EXPECT_EQ(add("BM="), "expects a value for 'BM'");
  EXPECT_EQ(add("=3"), "expects the name of a constant to be an identifier, "
                       "but got ''");
  EXPECT_EQ(add("1B=3"), "expects the name of a constant to be an identifier, "
                         "but got '1B'");
  EXPECT_EQ(add("B=1\n2"), "expects a value of one line for 'B'");

  TemplateConstants constants = define({"BM=16"});
  EXPECT_EQ(toString(constants.add("BM", "32")),
            "'BM' is defined twice, as '16' and as '32'");
}

} // namespace
