//===- TensorCoreDecodeTest.cpp - What is no mma.sync ---------------------===//

#include "Harness.h"

using namespace tile::emulator;

namespace {

/// The error of a kernel with the instruction, its registers declared.
std::string getError(const std::string &opcode, const std::string &operands,
                     llvm::StringRef target = "sm_120a",
                     llvm::StringRef version = "8.8") {
  std::string text =
      makeKernel("",
                 ".reg .b32 %a<8>, %b<8>, %c<8>, %d<8>; .reg .b16 %s<4>;\n"
                 ".reg .b64 %w<8>;\n" +
                     opcode + " " + operands + ";\nret;\n",
                 target, version);
  llvm::Expected<std::unique_ptr<Module>> module = Module::load(text, "k.ptx");
  if (!module)
    return llvm::toString(module.takeError());
  return llvm::toString((*module)->prepare("k"));
}

const char k16[] =
    "{%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, "
    "%c3}";
const char scaled[] =
    "{%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, "
    "%c3}, %a4, {0, 0}, %b4, {0, 0}";

struct Case {
  const char *opcode;
  const char *operands;
  const char *expected;
  const char *target = "sm_120a";
  const char *version = "8.8";
};

TEST(TensorCoreDecodeTest, ErrorsSayWhatIsLegal) {
  const Case cases[] = {
      {"mma.sync.m16n8k16.row.col.f32.f16.f16.f32", k16, "expects .aligned"},
      {"mma.sync.aligned.m16n8k12.row.col.f32.f16.f16.f32", k16,
       "expects a shape, one of m16n8k128, m16n8k16"},
      {"mma.sync.aligned.m16n8k16.col.row.f32.f16.f16.f32", k16,
       "expects .row.col, but got .col.row"},
      {"mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32", k16,
       "expects .row.col, but got .row.row"},
      {"mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", k16,
       "of .f16 by .f16 expects m16n8k8 or m16n8k16, but got m16n8k32"},
      {"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32", k16,
       "expects m16n8k8 or m16n8k16, but got m8n8k4"},
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32", k16,
       "has no multiply of .f16 by .bf16"},
      {"mma.sync.aligned.m16n8k16.row.col.f16.bf16.bf16.f16", k16,
       "expects .f32 for d and c, but got .f16 and .f16"},
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f16", k16,
       "expects two .f32 or two .f16 for d and c, but got .f32 and .f16"},
      {"mma.sync.aligned.m16n8k16.row.col.f32.s8.s8.f32", k16,
       "expects .s32 for d and c"},
      {"mma.sync.aligned.m16n8k16.row.col.satfinite.f32.f16.f16.f32", k16,
       "of .f16 has no .satfinite"},
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32.rn", k16,
       "has no rounding modifier"},
      {"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32", k16,
       "expects .xor.popc or .and.popc"},
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
       "{%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3}",
       "expects 4 elements in braces, but got 2"},
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", scaled,
       "expects 4 operands, but got 8"},
      {"mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64", k16,
       "expects a register for .f64, but got '%d0', which is .b32"},
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32.noinc", k16, "noinc"},
      // Targets and versions.
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", k16,
       "needs sm_80, but the target is sm_75", "sm_75"},
      {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", k16,
       "needs sm_89, but the target is sm_86", "sm_86"},
      {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", k16,
       "needs .version 8.4, but the file has 7.8", "sm_89", "7.8"},
      {"mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64",
       "{%w0, %w1, %w2, %w3}, {%w4, %w5}, {%w6}, {%w0, %w1, %w2, %w3}",
       "needs sm_90, but the target is sm_80", "sm_80"},
      {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e2m1.f32", k16,
       "expects .kind::f8f6f4"},
      {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e2m1.f32", k16,
       "needs sm_120a, sm_120f, sm_121a or sm_121f, but the target is sm_120",
       "sm_120"},
      {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e2m1.f32", k16,
       "needs sm_120a", "sm_100a"},
      {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32", k16,
       "needs sm_100a, sm_103a, sm_110a, sm_120a", "sm_90a"},
      {"mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec:"
       ":4X.f32.e2m1.e2m1.f32.ue4m3",
       scaled, "needs sm_120a", "sm_100a"},
      // Kinds and scales.
      {"mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.f32.e2m1."
       "e2m1.f32.ue4m3",
       scaled,
       "expects .scale_vec::2X with .ue8m0 or .scale_vec::4X with .ue4m3 or "
       ".scale_vec::4X with .ue8m0, but got no scale_vec with .ue4m3"},
      {"mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec:"
       ":2X.f32.e2m1.e2m1.f32.ue4m3",
       scaled, "but got .scale_vec::2X with .ue4m3"},
      {"mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::4X."
       "f32.e2m1.e2m1.f32.ue8m0",
       scaled, "expects .scale_vec::2X with .ue8m0, but got .scale_vec::4X"},
      {"mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec:"
       ":4X.f32.e2m1.e2m1.f32.ue8m0",
       scaled, "needs .version 9.1, but the file has 8.8"},
      {"mma.sync.aligned.m16n8k64.row.col.kind::mxf4.f32.e2m1.e2m1.f32.ue8m0",
       scaled, "'.kind::mxf4' expects .block_scale"},
      {"mma.sync.aligned.m16n8k32.row.col.kind::mxf4nvf4.block_scale.scale_vec:"
       ":4X.f32.e2m1.e2m1.f32.ue4m3",
       scaled, "expects m16n8k64, but got m16n8k32"},
      {"mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e4m3.e2m1."
       "f32.ue8m0",
       scaled, "expects .e2m1 for a and b, but got .e4m3 and .e2m1"},
      {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f16.e4m3."
       "e4m3.f16.ue8m0",
       scaled, "expects .f32 for d and c"},
      {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.block_scale.f32.e4m3."
       "e4m3.f32.ue8m0",
       scaled, "block scales need .kind::mxf8f6f4"},
      {"mma.sync.aligned.m16n8k32.row.col.kind::i8.s32.s8.s8.s32", k16,
       "kind::i8"},
      {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3."
       "e4m3.f32.ue8m0",
       k16, "expects 8 operands, but got 4"},
      {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3."
       "e4m3.f32.ue8m0",
       "{%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, "
       "%c2, %c3}, %a4, {%a5, 0}, %b4, {0, 0}",
       "expects a register for .u16, but got '%a5', which is .b32"},
      {"mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", k16, "mma.sp"},
  };
  for (const Case &item : cases) {
    std::string error =
        getError(item.opcode, item.operands, item.target, item.version);
    EXPECT_NE(error.find(item.expected), std::string::npos)
        << item.opcode << "\n  expected: " << item.expected
        << "\n  got: " << error;
  }
}

TEST(TensorCoreDecodeTest, FormsOfRealCode) {
  const Case cases[] = {
      {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
       "{%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {0f00000000, "
       "0f00000000, 0f3F800000, 0f00000000}",
       "", "sm_80"},
      {"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32",
       "{%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {0, 0, -1, 0}",
       "", "sm_80"},
      // CUTLASS puts single registers in braces.
      {"mma.sync.aligned.kind::mxf4nvf4.block_scale.scale_vec::4X.m16n8k64.row."
       "col.f32.e2m1.e2m1.f32.ue4m3",
       "{%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, "
       "%c2, %c3}, {%a4}, {%s0, %s1}, {%b4}, {%s2, 3}",
       ""},
      {"mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.e3m2.e2m1.f32", k16,
       "", "sm_121f"},
      {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e5m2.f32", k16,
       "", "sm_103a"},
      {"mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec:"
       ":4X.f32.e2m1.e2m1.f32.ue8m0",
       scaled, "", "sm_120f", "9.1"},
  };
  for (const Case &item : cases)
    EXPECT_EQ(getError(item.opcode, item.operands, item.target, item.version),
              "")
        << item.opcode;
}

} // namespace
