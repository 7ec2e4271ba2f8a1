//===- ParserBodyTest.cpp - Statements and operands in the tree -----------===//

#include "SyntaxHarness.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"

using namespace llvm;
using namespace tile::emulator;

namespace {

using Kind = Operand::Kind;

/// The bits of the integer that `expression` is as an operand.
std::optional<uint64_t> evaluate(StringRef expression) {
  Parsed k(withBody("mov.b64 %rd1, " + expression + ";"));
  if (!k || k[0].operands.size() != 2)
    return std::nullopt;
  const Operand &operand = k[0].operands[1];
  if (operand.kind != Kind::Integer)
    return std::nullopt;
  return operand.bits;
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

TEST(PtxParserTest, Registers) {
  Parsed k(withBody(".reg .f64 a, $b, _c, %d_0; .reg .v2 .b16 w<2>;"));
  ASSERT_TRUE(k);
  ASSERT_EQ(k->registers.size(), 4u + 10 + 10 + 10 + 1 + 4 + 2);
  EXPECT_EQ(k->registers[4].name, "%r0");
  EXPECT_EQ(k->registers[13].name, "%r9");
  EXPECT_EQ(k->registers[13].index, 13u);
  EXPECT_EQ(k->registers[13].type, Type::B32);
  EXPECT_EQ(k->registers[34].vectorSize, 4u);
  EXPECT_EQ(k->registers[36].name, "$b");
  EXPECT_EQ(k->registers[36].type, Type::F64);
  EXPECT_EQ(k->registers[40].name, "w1");
  EXPECT_EQ(k->registers[40].vectorSize, 2u);
}

TEST(PtxParserTest, StatementParts) {
  Parsed k(withBody("\t@!%p1 bra L;\n"
                    "\t@ %p2 mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4"
                    ".block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3\n"
                    "\t\t{%f0, %f1},{%r1,%r2} , %r3 ; // over\n"
                    "L:\n"
                    "M:\tld .global .nc.L1::no_allocate.L2::128B.b32 /* x */ "
                    "%r1, [%rd1];"));
  ASSERT_TRUE(k);
  ASSERT_EQ(k->body.size(), 3u);
  EXPECT_EQ(k[0].guard->name, "%p1");
  EXPECT_TRUE(k[0].guardNegated);
  EXPECT_EQ(k[0].text, "bra L");
  EXPECT_EQ(k[0].location.line, 12u);
  EXPECT_EQ(k[0].location.column, 8u);
  EXPECT_EQ(k[0].operands[0].label, 0u);
  EXPECT_EQ(k[1].guard->name, "%p2");
  EXPECT_FALSE(k[1].guardNegated);
  EXPECT_EQ(join(k[1].opcode, " "),
            "mma sync aligned m16n8k64 row col kind::mxf4nvf4 block_scale "
            "scale_vec::4X f32 e2m1 e2m1 f32 ue4m3");
  EXPECT_TRUE(k[1].text.starts_with("mma.sync."));
  EXPECT_TRUE(k[1].text.ends_with("%r3"));
  ASSERT_EQ(k[1].operands.size(), 3u);
  EXPECT_EQ(k[1].operands[0].text, "{%f0, %f1}");
  EXPECT_EQ(k[1].operands[1].location.line, 14u);
  EXPECT_EQ(k[1].operands[1].location.column, 14u);
  EXPECT_EQ(join(k[2].opcode, " "),
            "ld global nc L1::no_allocate L2::128B b32");
  EXPECT_EQ(k[2].guard, nullptr);
  ASSERT_EQ(k->labels.size(), 2u);
  EXPECT_EQ(k->labels[0].name, "L");
  EXPECT_EQ(k->labels[0].statement, 2u);
  EXPECT_EQ(k->labels[1].statement, 2u);
  EXPECT_EQ(k->labels[1].location.line, 16u);
}

TEST(PtxParserTest, OpcodesWithDigits) {
  Parsed k(withBody("tcgen05.ld.sync.aligned.16x64b.x1.b32 {%r1}, [%r2];\n"
                    "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4"
                    ".mbarrier::complete_tx::bytes.L2::cache_hint [%r1], [%rd1,"
                    " {%r2, %r3}], [%r4], %rd2;\n"
                    "bar.sync 0;"));
  ASSERT_TRUE(k);
  EXPECT_EQ(k[0].opcode[4], "16x64b");
  EXPECT_EQ(join(k[1].opcode, " "),
            "cp async bulk tensor 2d shared::cta global tile::gather4 "
            "mbarrier::complete_tx::bytes L2::cache_hint");
  EXPECT_EQ(k[1].operands.size(), 4u);
  EXPECT_EQ(k[2].operands[0].bits, 0u);
}

TEST(PtxParserTest, SourceLocations) {
  // nvcc names the files at the end.
  auto tree = parse(withHeader(
      ".file 2 \"a\\\"b.cu\"\n"
      ".entry k() {\n ret;\n"
      ".loc 7 10 3\n ret;\n"
      ".loc 2 20 5, function_name $L__info_string0, inlined_at 7 11 9\n ret;\n"
      ".loc\t7 30 0, function_name .debug_str+16, inlined_at 2 1 1\n ret; }\n"
      ".entry m() { ret; .loc 9 1 1 \n ret; }\n"
      ".file\t7 \"/src/k.cu\", 1339013327, 64118\n"));
  ASSERT_TRUE(tree);
  ASSERT_EQ(tree->files.size(), 2u);
  EXPECT_EQ(tree->files[0], "a\"b.cu");
  EXPECT_EQ(tree->files[1], "/src/k.cu");
  const std::vector<Statement> &body = tree->functions[0].body;
  EXPECT_EQ(body[0].sourceFile, -1);
  EXPECT_EQ(body[1].sourceFile, 1);
  EXPECT_EQ(body[1].sourceLine, 10u);
  EXPECT_EQ(body[2].sourceFile, 0);
  EXPECT_EQ(body[2].sourceLine, 20u);
  EXPECT_EQ(body[3].sourceFile, 1);
  EXPECT_EQ(body[3].sourceLine, 30u);
  // Neither the `.loc` of another function nor an unnamed file counts.
  EXPECT_EQ(tree->functions[1].body[0].sourceFile, -1);
  EXPECT_EQ(tree->functions[1].body[1].sourceFile, -1);
}

TEST(PtxParserTest, ScopesShadow) {
  Parsed k(withBody("mov.b32 %r1, 1;\n"
                    "{ .reg .b64 %r1, n; mov.b64 %r1, n;\n"
                    "  { .shared .b32 %r1; mov.b64 n, %r1; } }\n"
                    "ld.param.b32 %r1, [n];"));
  ASSERT_TRUE(k);
  EXPECT_EQ(k[0].operands[0].variable->type, Type::B32);
  EXPECT_EQ(k[1].operands[0].variable->type, Type::B64);
  EXPECT_EQ(k[1].operands[1].variable, &k->registers[36]);
  EXPECT_EQ(k[2].operands[1].kind, Kind::Symbol);
  EXPECT_EQ(k[2].operands[1].variable, &k->variables[0]);
  EXPECT_EQ(k[3].operands[0].variable, k[0].operands[0].variable);
  EXPECT_EQ(k[3].operands[1].children[0].variable, &k->parameters[1]);
}

TEST(PtxParserTest, LabelsHaveScopes) {
  // As inline assembly that is expanded twice has them.
  Parsed k(withBody("{ WAIT: @%p1 bra DONE; bra WAIT; DONE: }\n"
                    "{ WAIT: @%p1 bra DONE; bra WAIT; bra END; DONE: }\n"
                    "DONE: bra DONE;\n"
                    "END:"));
  ASSERT_TRUE(k);
  ASSERT_EQ(k->labels.size(), 6u);
  auto target = [&](unsigned statement) {
    return k[statement].operands[0].label;
  };
  EXPECT_EQ(target(0), 1u);
  EXPECT_EQ(target(1), 0u);
  EXPECT_EQ(target(2), 3u);
  EXPECT_EQ(target(3), 2u);
  EXPECT_EQ(target(4), 5u);
  EXPECT_EQ(target(5), 4u);
  EXPECT_EQ(k->labels[1].statement, 2u);
  EXPECT_EQ(k->labels[5].statement, k->body.size());
}

TEST(PtxParserTest, BranchTargets) {
  Parsed k(withBody("$L_brx: .branchtargets A, N<3>, A;\n"
                    "N0: N1: brx.idx.uni %r1, $L_brx;\n"
                    "N2: ret;\n"
                    "A: ret;"));
  ASSERT_TRUE(k);
  const Label &list = k->labels[0];
  EXPECT_TRUE(list.isTargetList);
  SmallVector<StringRef> names;
  for (unsigned target : list.targets)
    names.push_back(k->labels[target].name);
  EXPECT_EQ(join(names, " "), "A N0 N1 N2 A");
  EXPECT_EQ(k[0].operands[0].kind, Kind::Register);
  EXPECT_EQ(k[0].operands[1].kind, Kind::Label);
  EXPECT_EQ(k[0].operands[1].label, 0u);
}

TEST(PtxParserTest, Calls) {
  Parsed k(withHeader(
      ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);\n"
      ".func (.reg .f32 out) g(.reg .f32 in) { mov.f32 out, in; ret; }\n"
      ".func h { ret; }\n"
      ".entry k() {\n"
      ".reg .b64 %rd<3>; .reg .f32 %f<3>; .reg .b32 %r<2>; .reg .pred %p<2>;\n"
      "{ // callseq 0, 0\n"
      ".param .b64 param0;\nst.param.b64 [param0], %rd1;\n"
      ".param .align 8 .b8 param1[16];\n"
      ".param .b32 retval0;\n"
      "call.uni (retval0), vprintf, (param0, param1);\n"
      "ld.param.b32 %r1, [retval0+0];\n"
      "} // callseq 0\n"
      "{ .param .b64 param0; .param .b32 retval0;\n"
      "prototype_0 : .callprototype (.param .b32 _) _ (.param .b64 _, .param "
      ".align 8 .b8 _[16]) .noreturn;\n"
      "@%p1 call (retval0), %rd1, (param0, 3), prototype_0; }\n"
      "call (%f1), g, (%f2);\n"
      "call h;\n"
      "T: .calltargets g;\n"
      "call (%f1), %rd2, (0f3F800000), T;\n"
      "}\n"));
  ASSERT_TRUE(k);
  ASSERT_EQ(k->body.size(), 7u);
  const Statement &call = k[1];
  ASSERT_EQ(call.operands.size(), 3u);
  EXPECT_EQ(call.operands[0].kind, Kind::List);
  EXPECT_EQ(call.operands[0].children[0].variable->name, "retval0");
  EXPECT_EQ(call.operands[1].function, &k.tree->functions[0]);
  ASSERT_EQ(call.operands[2].children.size(), 2u);
  EXPECT_EQ(call.operands[2].children[1].variable, &k->variables[1]);
  EXPECT_EQ(call.operands[2].children[1].variable->getSize(), 16u);
  const Statement &indirect = k[3];
  ASSERT_EQ(indirect.operands.size(), 4u);
  EXPECT_EQ(indirect.operands[1].kind, Kind::Register);
  EXPECT_EQ(indirect.operands[2].children[0].variable, &k->variables[3]);
  EXPECT_EQ(indirect.operands[2].children[1].bits, 3u);
  EXPECT_EQ(indirect.operands[3].kind, Kind::Label);
  EXPECT_TRUE(k->labels[indirect.operands[3].label].isPrototype);
  EXPECT_EQ(k[4].operands[0].children[0].kind, Kind::Register);
  EXPECT_EQ(k[5].operands[0].function, &k.tree->functions[2]);
  const Label &targets = k->labels[k[6].operands[3].label];
  EXPECT_TRUE(targets.isTargetList);
  ASSERT_EQ(targets.callTargets.size(), 1u);
  EXPECT_EQ(targets.callTargets[0], &k.tree->functions[1]);
  // `.reg` parameters are registers in the body.
  const Function &g = k.tree->functions[1];
  EXPECT_EQ(g.body[0].operands[0].variable, &g.results[0]);
  EXPECT_EQ(g.body[0].operands[1].kind, Kind::Register);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

TEST(PtxOperandTest, Names) {
  Parsed k(withBody(".shared .align 4 .b8 buf[64];\n"
                    "x %r1, %v.w, %v.g, !%p3, -%f2, %tid.x, %ntid, %laneid, "
                    "buf, buf+4, buf-(2*4), k, _, %p1|%p2, _|%p1, %r1|_, "
                    "%envreg31, %r1.b0, %pm7_64, %clock64;"));
  ASSERT_TRUE(k);
  const auto &operands = k[0].operands;
  ASSERT_EQ(operands.size(), 20u);
  EXPECT_EQ(operands[0].variable->name, "%r1");
  EXPECT_EQ(operands[0].component, -1);
  EXPECT_EQ(operands[1].component, 3);
  EXPECT_EQ(operands[2].component, 1);
  EXPECT_TRUE(operands[3].isNegated);
  EXPECT_EQ(operands[3].text, "!%p3");
  EXPECT_TRUE(operands[4].isNegated);
  EXPECT_EQ(operands[5].kind, Kind::Special);
  EXPECT_EQ(operands[5].text, "%tid.x");
  EXPECT_EQ(operands[6].text, "%ntid");
  EXPECT_EQ(operands[7].kind, Kind::Special);
  EXPECT_EQ(operands[8].kind, Kind::Symbol);
  EXPECT_EQ(operands[8].offset, 0);
  EXPECT_EQ(operands[9].offset, 4);
  EXPECT_EQ(operands[9].text, "buf+4");
  EXPECT_EQ(operands[10].offset, -8);
  EXPECT_EQ(operands[10].variable, &k->variables[0]);
  EXPECT_EQ(operands[11].function, k.function);
  EXPECT_EQ(operands[12].kind, Kind::Sink);
  EXPECT_EQ(operands[13].kind, Kind::Pair);
  EXPECT_EQ(operands[13].text, "%p1|%p2");
  EXPECT_EQ(operands[13].children[1].variable->name, "%p2");
  EXPECT_EQ(operands[14].children[0].kind, Kind::Sink);
  EXPECT_EQ(operands[15].children[1].kind, Kind::Sink);
  EXPECT_EQ(operands[16].kind, Kind::Special);
  EXPECT_EQ(operands[17].kind, Kind::Word);
  EXPECT_EQ(operands[17].text, "%r1.b0");
  EXPECT_EQ(operands[18].kind, Kind::Special);
  EXPECT_EQ(operands[19].kind, Kind::Special);
}

TEST(PtxOperandTest, DeclaredNamesComeFirst) {
  Parsed k(withBody(".reg .b32 %laneid, %pm<2>; mov.b32 %laneid, %pm1;"));
  ASSERT_TRUE(k);
  EXPECT_EQ(k[0].operands[0].kind, Kind::Register);
  EXPECT_EQ(k[0].operands[1].kind, Kind::Register);
}

TEST(PtxOperandTest, Addresses) {
  Parsed k(withBody(
      ".shared .b8 buf[64];\n"
      "x [%rd1], [%rd1+16], [%rd1+-8], [%rd1 - 8], [buf+4], [buf], [4096], "
      "[16+4*2], [a+8], [buf+2*4-1+WARP_SZ], [%rd2+4].unified, "
      "[%rd1, {%r2, %r3, 5}], {%r1, %r2}, [buf, buf, {%f1}];"));
  ASSERT_TRUE(k);
  const auto &operands = k[0].operands;
  ASSERT_EQ(operands.size(), 14u);
  const int64_t offsets[] = {0, 16, -8, -8, 4, 0, 0, 0, 8, 39, 4, 0};
  for (auto [operand, offset] : zip(operands, offsets)) {
    EXPECT_EQ(operand.kind, Kind::Address);
    EXPECT_EQ(operand.offset, offset) << operand.text.str();
    EXPECT_EQ(operand.children[0].offset, 0);
  }
  EXPECT_EQ(operands[1].text, "[%rd1+16]");
  EXPECT_EQ(operands[1].children[0].text, "%rd1");
  EXPECT_EQ(operands[4].children[0].kind, Kind::Symbol);
  EXPECT_EQ(operands[6].children[0].kind, Kind::Integer);
  EXPECT_EQ(operands[6].children[0].bits, 4096u);
  EXPECT_EQ(operands[7].children[0].bits, 24u);
  EXPECT_EQ(operands[8].children[0].variable, &k->parameters[0]);
  ASSERT_EQ(operands[11].children.size(), 2u);
  const Operand &coordinates = operands[11].children[1];
  EXPECT_EQ(coordinates.kind, Kind::Vector);
  EXPECT_EQ(coordinates.children[1].variable->name, "%r3");
  EXPECT_EQ(coordinates.children[2].bits, 5u);
  EXPECT_EQ(operands[12].kind, Kind::Vector);
  EXPECT_EQ(operands[13].children.size(), 3u);
}

TEST(PtxOperandTest, Floats) {
  Parsed k(withBody("x 0f3F800000, 0Fbf800000, 0d3FF8000000000000, 1.5, .5, "
                    "1., 1e3, -2.5e-1, -0f3F800000, 1.5*2.0+1.0;"));
  ASSERT_TRUE(k);
  const std::pair<uint64_t, bool> expected[] = {
      {0x3f800000, false},
      {0xbf800000, false},
      {0x3ff8000000000000, true},
      {bit_cast<uint64_t>(1.5), true},
      {bit_cast<uint64_t>(0.5), true},
      {bit_cast<uint64_t>(1.0), true},
      {bit_cast<uint64_t>(1000.0), true},
      {bit_cast<uint64_t>(-0.25), true},
      {0xbf800000, false},
      {bit_cast<uint64_t>(4.0), true},
  };
  ASSERT_EQ(k[0].operands.size(), std::size(expected));
  for (auto [operand, value] : zip(k[0].operands, expected)) {
    EXPECT_EQ(operand.kind, Kind::Float) << operand.text.str();
    EXPECT_EQ(operand.bits, value.first) << operand.text.str();
    EXPECT_EQ(operand.isDouble, value.second) << operand.text.str();
  }
}

TEST(PtxOperandTest, IntegerExpressions) {
  const std::pair<const char *, int64_t> rows[] = {
      {"42", 42},
      {"0x1fU", 31},
      {"0b101", 5},
      {"017", 15},
      {"0", 0},
      {"-1", -1},
      {"- -3", 3},
      {"+7", 7},
      {"~0", -1},
      {"!5", 0},
      {"!0", 1},
      {"-WARP_SZ", -32},
      {"WARP_SZ*2", 64},
      {"0xfabc123400000000", static_cast<int64_t>(0xfabc123400000000)},
      {"2+3*4", 14},
      {"(2+3)*4", 20},
      {"7-2-1", 4},
      {"7%4", 3},
      {"7 % 4", 3},
      {"100/7/2", 7},
      {"-7/2", -3},
      {"-1U/2", INT64_MAX},
      // The remainder takes its operands as unsigned.
      {"-1 % 10", 5},
      {"1<<4|3", 19},
      {"1<<64", 0},
      {"-8>>1", -4},
      {"-8>>100", -1},
      {"~0>>63", 1},
      {"6&3^1|8", 11},
      {"1==1 && 2!=3", 1},
      {"0 || 4", 1},
      {"-1 < 0", 1},
      {"-1 < 0U", 0},
      {"3 >= 3", 1},
      {"2 > 3", 0},
      {"3 <= 2", 0},
      {"1 ? 2 : 3", 2},
      {"0 ? 2 : 0 ? 4 : 5", 5},
      {"(.u64)-1 >> 60", 15},
      {"(.s64)0xffffffffffffffff >> 60", -1},
      {"1.5 < 2.0", 1},
      {"0x8000000000000000/-1", 0},
      {"(.s64)0x8000000000000000/-1", INT64_MIN},
      {"'a'", 97},
      {"'\\n'", 10},
      {"'\\101'", 65},
  };
  for (auto [text, value] : rows)
    EXPECT_EQ(evaluate(text), static_cast<uint64_t>(value)) << text;
}

} // namespace
