//===- ParserTest.cpp - What the tree of a PTX file holds -----------------===//

#include "SyntaxHarness.h"

#include "llvm/ADT/SmallVector.h"

using namespace llvm;
using namespace tile::emulator;

namespace {

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

TEST(PtxTypeTest, NamesAndSizes) {
  const std::tuple<Type, const char *, unsigned> rows[] = {
      {Type::Pred, "pred", 1},      {Type::B8, "b8", 8},
      {Type::B128, "b128", 128},    {Type::S64, "s64", 64},
      {Type::F16x2, "f16x2", 32},   {Type::BF16, "bf16", 16},
      {Type::TF32, "tf32", 32},     {Type::F32x2, "f32x2", 64},
      {Type::U8x4, "u8x4", 32},     {Type::E2M1, "e2m1", 4},
      {Type::E2M3, "e2m3", 6},      {Type::E2M1x2, "e2m1x2", 8},
      {Type::E2M3x2, "e2m3x2", 16}, {Type::E2M1x4, "e2m1x4", 16},
      {Type::E3M2x4, "e3m2x4", 32}, {Type::UE8M0x2, "ue8m0x2", 16},
      {Type::UE4M3, "ue4m3", 8},    {Type::S4, "s4", 4},
      {Type::B1, "b1", 1},
  };
  for (auto [type, name, bits] : rows) {
    EXPECT_EQ(getTypeName(type), name);
    EXPECT_EQ(findType(name), type);
    EXPECT_EQ(getTypeBits(type), bits) << name;
  }
  // Every type is found by its name.
  for (int i = 1; i <= static_cast<int>(Type::B1); ++i)
    EXPECT_EQ(findType(getTypeName(static_cast<Type>(i))),
              static_cast<Type>(i));
  EXPECT_EQ(findType(""), std::nullopt);
  EXPECT_EQ(findType("f33"), std::nullopt);
  EXPECT_EQ(getStateSpaceName(StateSpace::Constant), "const");
  EXPECT_EQ(getStateSpaceName(StateSpace::Register), "reg");
}

//===----------------------------------------------------------------------===//
// Module
//===----------------------------------------------------------------------===//

TEST(PtxParserTest, Head) {
  auto tree = parse("//\n// made by hand\n/* a\n b */ .version 7.0 .target "
                    "sm_90a, debug, texmode_independent\n");
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->version, 70u);
  EXPECT_EQ(tree->target, "sm_90a");
  EXPECT_EQ(tree->addressSize, 64u);
  EXPECT_EQ(tree->name, "t.ptx");
  tree = parse(".version 9.5\n.target sm_100f\n.address_size 64");
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->version, 95u);
  EXPECT_EQ(tree->target, "sm_100f");
}

TEST(PtxParserTest, LaunchComments) {
  auto tree = parse("// tile.launch entry=first block=128,2,1 shared=69632\n" +
                    withHeader(".entry a {\n"
                               "// tile.launch entry=inside block=1,1,3 "
                               "shared=7\n"
                               "ret; // the tile.launch entry= is no line\n"
                               "/* // tile.launch entry=x */ }\n"
                               "\t//tile.launch entry=last  block=4,5,6 "
                               "shared=0"));
  ASSERT_TRUE(tree);
  ASSERT_EQ(tree->launches.size(), 3u);
  EXPECT_EQ(tree->launches[0].entry, "first");
  EXPECT_EQ(tree->launches[0].block[0], 128u);
  EXPECT_EQ(tree->launches[0].block[1], 2u);
  EXPECT_EQ(tree->launches[0].sharedBytes, 69632u);
  EXPECT_EQ(tree->launches[1].entry, "inside");
  EXPECT_EQ(tree->launches[1].block[2], 3u);
  EXPECT_EQ(tree->launches[2].entry, "last");
  EXPECT_EQ(tree->launches[2].block[2], 6u);
}

TEST(PtxParserTest, SkipsDebugSections) {
  auto tree = parse(
      withHeader(".section .debug_abbrev\n{\n.b8 1, 2\n.b32 .debug_info+4\n"
                 "L1: .b64 L1-L0 // }\n.b8 -11\n}\n"
                 ".section\t.debug_macinfo\t{\t}\n"
                 ".pragma \"nounroll\", \"other\";\n"
                 "@@DWARF .section .debug_pubnames, \"\", @progbits\n"
                 "# 1 \"a.c\"\n#line 3\n"
                 ".global .b32 g;\n"));
  ASSERT_TRUE(tree);
  ASSERT_EQ(tree->variables.size(), 1u);
  EXPECT_EQ(tree->variables[0].location.line, 17u);
}

TEST(PtxParserTest, ModuleVariables) {
  auto tree = parse(
      withHeader(".extern .shared .align 16 .b8 smem[];\n"
                 ".visible .global .align 8 .u16 m[3][5];\n"
                 ".weak .const .v4 .f32 c = {1.5, -2.0, 0f3F800000, 1e-1};\n"
                 ".common .global .attribute(.managed) .s32 a, b;\n"
                 ".global .v2 .b16 t<3>;\n"
                 ".global .texref tex;\n"
                 ".shared .b64 bar;\n"));
  ASSERT_TRUE(tree);
  ASSERT_EQ(tree->variables.size(), 10u);
  const Variable &smem = tree->variables[0];
  EXPECT_EQ(smem.space, StateSpace::Shared);
  EXPECT_EQ(smem.alignment, 16u);
  EXPECT_EQ(smem.elements, 0u);
  EXPECT_EQ(smem.getSize(), 0u);
  EXPECT_TRUE(smem.isExternal);
  EXPECT_FALSE(smem.isVisible);

  const Variable &m = tree->variables[1];
  EXPECT_EQ(m.elements, 15u);
  EXPECT_EQ(m.getSize(), 30u);
  EXPECT_EQ(m.alignment, 8u);
  EXPECT_EQ(m.type, Type::U16);
  EXPECT_TRUE(m.isVisible);
  EXPECT_EQ(m.index, 1u);

  const Variable &c = tree->variables[2];
  EXPECT_EQ(c.space, StateSpace::Constant);
  EXPECT_EQ(c.vectorSize, 4u);
  EXPECT_EQ(c.elements, std::nullopt);
  EXPECT_EQ(c.alignment, 16u);
  EXPECT_EQ(c.getSize(), 16u);
  ASSERT_EQ(c.initial.size(), 4u);
  EXPECT_EQ(c.initial[0].bits, 0x3fc00000u);
  EXPECT_EQ(c.initial[1].bits, 0xc0000000u);
  EXPECT_EQ(c.initial[2].bits, 0x3f800000u);
  EXPECT_EQ(c.initial[3].bits, 0x3dcccccdu);

  EXPECT_EQ(tree->variables[3].name, "a");
  EXPECT_TRUE(tree->variables[4].isVisible);
  EXPECT_EQ(tree->variables[4].alignment, 4u);
  EXPECT_EQ(tree->variables[7].name, "t2");
  EXPECT_EQ(tree->variables[7].alignment, 4u);
  EXPECT_EQ(tree->variables[8].getSize(), 8u);
  EXPECT_EQ(tree->variables[9].index, 9u);
}

TEST(PtxParserTest, ExternalThenDefined) {
  auto tree = parse(withHeader(".extern .global .b32 g;\n"
                               ".extern .shared .b8 s[];\n"
                               ".extern .global .b32 g;\n"
                               ".visible .global .b32 g = 7;\n"
                               ".global .b64 p = g;\n"));
  ASSERT_TRUE(tree);
  ASSERT_EQ(tree->variables.size(), 3u);
  const Variable &g = tree->variables[0];
  EXPECT_FALSE(g.isExternal);
  EXPECT_TRUE(g.isVisible);
  EXPECT_EQ(g.index, 0u);
  ASSERT_EQ(g.initial.size(), 1u);
  EXPECT_EQ(tree->variables[2].initial[0].variable, &g);
}

TEST(PtxParserTest, Initializers) {
  auto tree = parse(withHeader(
      ".func f() { ret; }\n"
      ".global .b32 g[4] = {1, 0x2, -1};\n"
      ".global .s8 rows[][3] = { {1, 2}, {}, {'a', 0b11, 017} };\n"
      ".global .u64 p[5] = {g, g+8, generic(g)-4, f, 3 };\n"
      ".global .b8 b[4] = {0xff(g), 0xff00(generic(g)+4), mask(0xff0000, g), "
      "0xFF00(131187)};\n"
      ".global .f64 d[2] = {0f3FC00000, 2.5};\n"
      ".global .b32 x = 1.5;\n"
      ".const .v2 .b16 pairs[] = {{1, 2}, {3}, {70000, 5}};\n"));
  ASSERT_TRUE(tree);
  auto bits = [&](unsigned variable) {
    SmallVector<uint64_t> out;
    for (const InitialValue &value : tree->variables[variable].initial)
      out.push_back(value.bits);
    return out;
  };
  using Bits = SmallVector<uint64_t>;
  EXPECT_EQ(bits(0), (Bits{1, 2, 0xffffffff}));
  EXPECT_EQ(bits(1), (Bits{1, 2, 0, 0, 0, 0, 97, 3, 15}));
  EXPECT_EQ(tree->variables[1].elements, 9u);
  const Variable &g = tree->variables[0];
  const Variable &p = tree->variables[2];
  ASSERT_EQ(p.initial.size(), 5u);
  EXPECT_EQ(p.initial[0].variable, &g);
  EXPECT_FALSE(p.initial[0].generic);
  EXPECT_EQ(p.initial[1].offset, 8);
  EXPECT_EQ(p.initial[2].offset, -4);
  EXPECT_TRUE(p.initial[2].generic);
  EXPECT_EQ(p.initial[3].function, &tree->functions[0]);
  EXPECT_EQ(p.initial[4].bits, 3u);
  EXPECT_EQ(p.initial[4].variable, nullptr);
  const Variable &b = tree->variables[3];
  ASSERT_EQ(b.initial.size(), 4u);
  EXPECT_EQ(b.initial[0].mask, 0xffu);
  EXPECT_EQ(b.initial[1].mask, 0xff00u);
  EXPECT_EQ(b.initial[1].offset, 4);
  EXPECT_TRUE(b.initial[1].generic);
  EXPECT_EQ(b.initial[2].mask, 0xff0000u);
  EXPECT_EQ(b.initial[2].variable, &g);
  EXPECT_EQ(b.initial[3].bits, (131187u >> 8) & 0xff);
  EXPECT_EQ(b.initial[3].mask, std::nullopt);
  EXPECT_EQ(bits(4), (Bits{0x3ff8000000000000, 0x4004000000000000}));
  EXPECT_EQ(bits(5), (Bits{0x3fc00000}));
  EXPECT_EQ(bits(6), (Bits{1, 2, 3, 0, 70000 & 0xffff, 5}));
  EXPECT_EQ(tree->variables[6].elements, 3u);
  EXPECT_EQ(tree->variables[6].getSize(), 12u);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

TEST(PtxParserTest, EntryDirectives) {
  Parsed k(withHeader(".visible .entry k(\n"
                      "\t.param .u64 .ptr .global .align 16 k_param_0,\n"
                      "\t.param .align 8 .b8 k_param_1[24],\n"
                      "\t.param .u64 .ptr.shared.align 4 k_param_2,\n"
                      "\t.param .u64 .ptr .align 1 k_param_3,\n"
                      "\t.param .f32 k_param_4\n"
                      ")\n"
                      ".reqntid 128, 2\n.maxntid 256, 1, 1\n"
                      ".minnctapersm 3 .maxnctapersm 4 .maxnreg 96\n"
                      ".reqnctapercluster 2, 1, 4 .explicitcluster\n"
                      ".maxclusterrank 8 .blocksareclusters\n"
                      ".pragma \"used_bytes_mask 0xfff\";\n"
                      "{ ret; }\n"
                      ".func other() .noreturn .abi_preserve 10 "
                      ".abi_preserve_control 4 .unified { trap; }\n"
                      ".func .attribute(.unified(0xAB, 0xCD)) more;\n"));
  ASSERT_TRUE(k);
  EXPECT_TRUE(k->isEntry);
  EXPECT_TRUE(k->isDefined);
  ASSERT_EQ(k->parameters.size(), 5u);
  EXPECT_TRUE(k->parameters[0].isPointer);
  // What a pointer points to is aligned so, not the pointer.
  EXPECT_EQ(k->parameters[0].alignment, 8u);
  EXPECT_EQ(k->parameters[1].alignment, 8u);
  EXPECT_EQ(k->parameters[1].getSize(), 24u);
  EXPECT_FALSE(k->parameters[1].isPointer);
  EXPECT_TRUE(k->parameters[2].isPointer);
  EXPECT_TRUE(k->parameters[3].isPointer);
  EXPECT_EQ(k->parameters[4].index, 4u);
  EXPECT_EQ(k->parameters[4].type, Type::F32);
  EXPECT_EQ(k->parameters[4].space, StateSpace::Parameter);
  EXPECT_EQ(ArrayRef(k->requiredBlock), ArrayRef({128u, 2u, 1u}));
  EXPECT_EQ(ArrayRef(k->maxBlock), ArrayRef({256u, 1u, 1u}));
  EXPECT_EQ(ArrayRef(k->requiredCluster), ArrayRef({2u, 1u, 4u}));
  EXPECT_TRUE(k->explicitCluster);
  EXPECT_EQ(k->minBlocksPerMultiprocessor, 3u);
  EXPECT_EQ(k->maxRegisters, 96u);
  ASSERT_EQ(k.tree->functions.size(), 3u);
  EXPECT_FALSE(k.tree->functions[2].isDefined);
}

TEST(PtxParserTest, DeclarationsAreMerged) {
  auto tree = parse(withHeader(
      ".extern .func (.param .b32 r) f(.param .b64 x, .param .b8 y[4]);\n"
      ".visible .entry k() { .reg .b32 %r<2>; .param .b64 a; .param .b8 b[4];"
      " .param .b32 r; call (r), f, (a, b); }\n"
      ".visible .func (.param .b32 out) f(.param .b64 first, .param .align 4 "
      ".b8 second[4]) .noreturn { ret; }\n"
      ".func (.param .b32 r) f(.param .b64 x, .param .b8 y[4]);\n"));
  ASSERT_TRUE(tree);
  ASSERT_EQ(tree->functions.size(), 2u);
  const Function &f = tree->functions[0];
  EXPECT_TRUE(f.isDefined);
  EXPECT_EQ(f.parameters[0].name, "first");
  EXPECT_EQ(f.parameters[1].name, "second");
  EXPECT_EQ(f.results[0].name, "out");
  EXPECT_EQ(tree->functions[1].body[0].operands[1].function, &f);
}

TEST(PtxParserTest, AliasesStandForTheirFunctions) {
  auto tree = parse(withHeader(
      ".func g(.param .b32 x) { ret; }\n"
      ".visible .func f(.param .b32 x);\n"
      ".global .u64 table[1] = {f};\n"
      ".entry k() { .reg .b64 %rd<2>; .param .b32 x; mov.u64 %rd1, f;\n"
      "call f, (x); T: .calltargets g, f; }\n"
      ".alias f, g;\n"));
  ASSERT_TRUE(tree);
  const Function &g = tree->functions[0];
  const Function &k = tree->functions[2];
  EXPECT_EQ(tree->variables[0].initial[0].function, &g);
  EXPECT_EQ(k.body[0].operands[1].function, &g);
  EXPECT_EQ(k.body[1].operands[0].function, &g);
  EXPECT_EQ(k.labels[0].callTargets[1], &g);
}

TEST(PtxParserTest, FindEntry) {
  auto tree = parse(withHeader(".func f() { ret; } .entry declared();\n"
                               ".entry one() { ret; }"));
  ASSERT_TRUE(tree);
  Expected<const Function *> found = tree->findEntry("");
  ASSERT_TRUE(!!found);
  EXPECT_EQ((*found)->name, "one");
  found = tree->findEntry("one");
  ASSERT_TRUE(!!found);
  EXPECT_EQ(toString(tree->findEntry("f").takeError()),
            "t.ptx: error: the file has no entry 'f'; it has: one");
  tree = parse(withHeader(".entry a {} .entry b {}"));
  ASSERT_TRUE(tree);
  EXPECT_EQ(toString(tree->findEntry("").takeError()),
            "t.ptx: error: the file has 2 entries, of which one must be "
            "named: a, b");
  tree = parse(withHeader(""));
  ASSERT_TRUE(tree);
  EXPECT_EQ(toString(tree->findEntry("a").takeError()),
            "t.ptx: error: the file has no entry");
}

} // namespace
