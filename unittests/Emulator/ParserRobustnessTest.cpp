//===- ParserRobustnessTest.cpp - The PTX parser on damaged text ----------===//
//
// Real files, cut short and changed in many places: each must give a tree or an
// error with a place in the file. ParserFuzzer.cpp searches further.
//
//===----------------------------------------------------------------------===//

#include "SyntaxHarness.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <chrono>

using namespace llvm;
using namespace tile::emulator;

namespace {

/// Every construct in one file.
const char *const everything = R"(// by hand
// tile.launch entry=k block=64,1,1 shared=16
.version 8.8
.target sm_120a, debug
.address_size 64
.file 1 "k.cu", 12, 34
.extern .shared .align 16 .b8 smem[];
.visible .const .v4 .f32 c[2] = {{1.5, -2., 0f3F800000, 1e-1}, {.5}};
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);
.global .align 1 .b8 text[7] = {'a', 0x62, 0143, 0b1, 10U, -1};
.global .b64 table[] = {text, generic(c)+4, vprintf};
.global .b8 part[2] = {0xff00(text), mask(0xff, c-4)};
.func (.reg .f32 out) g(.reg .f32 in) .noreturn { mov.f32 out, in; ret; }
.func h(.param .b32 x);
.func i(.param .b32 x) { ret; }
.alias h, i;
.visible .entry k(.param .u64 .ptr .global .align 16 a,
  .param .align 8 .b8 b[24]) .reqntid 64, 1, 1 .minnctapersm 2
{
  .reg .pred %p<3>; .reg .b32 %r<5>; .reg .b64 %rd<4>; .reg .v2 .f32 v;
  .reg .f32 %f<3>; .local .align 4 .b8 depot[16];
  .loc 1 3 5, function_name $L__str+4, inlined_at 1 2 3
  ld.param.b64 %rd1, [a+0]; // comment
  mov.b32 %r1, %tid.x; mov.u32 %r2, (1+2)*3 << 4 | WARP_SZ % 5;
$L__BB0_1:
  @!%p1 bra $L__BB0_2;
  mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.f32
    {%f1, %f2}, {%r1, %r2}, %r3, {%r4, _};
  setp.lt.f32 %p1|%p2, v.x, -%f1; /* block */
  { .param .b32 x; st.param.b32 [x], 0d3FF8000000000000; call h, (x); }
  $T: .branchtargets $L__BB0_1, $L__BB0_2;
  brx.idx %r1, $T;
  P: .callprototype (.param .b32 _) _ (.param .b64 _);
  { .param .b32 r; .param .b64 x; call.uni (r), %rd1, (x), P; }
  cp.async.bulk.tensor.2d.global.shared::cta [%rd1, {%r1, 4}], [smem];
$L__BB0_2:
  .pragma "nounroll";
  ret;
}
.section .debug_str { L: .b8 1, 2 .b32 L+4 }
)";

/// A number that looks random and is always the same.
uint64_t getHash(uint64_t a, uint64_t b) {
  uint64_t x = a * 0x9e3779b97f4a7c15 + b * 0xd1b54a32d192ed03 + 1;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

/// A tree, or an error that lies in the text.
void check(StringRef text) {
  Expected<std::unique_ptr<SyntaxTree>> tree = parsePtx(text, "t.ptx");
  if (tree) {
    // Nothing in it is out of bounds.
    for (const Function &function : (*tree)->functions) {
      for (const Label &label : function.labels) {
        ASSERT_LE(label.statement, function.body.size());
        for (unsigned target : label.targets)
          ASSERT_LT(target, function.labels.size());
      }
      for (const Statement &statement : function.body)
        for (const Operand &operand : statement.operands) {
          bool isLabel = operand.kind == Operand::Kind::Label;
          ASSERT_TRUE(!isLabel || operand.label < function.labels.size());
        }
    }
    return;
  }
  handleAllErrors(tree.takeError(), [&](const PtxError &error) {
    EXPECT_FALSE(error.getMessage().empty());
    Location location = error.getLocation();
    ASSERT_GE(location.line, 1u);
    ASSERT_LE(location.line, text.count('\n') + 1);
    SmallVector<StringRef> lines;
    text.split(lines, '\n');
    ASSERT_GE(location.column, 1u);
    ASSERT_LE(location.column, lines[location.line - 1].size() + 1);
    std::string printed;
    raw_string_ostream os(printed);
    error.log(os);
  });
}

/// The PTX files of the tests, the small ones first.
std::vector<std::string> readInputs() {
  std::vector<std::string> files = {everything};
  std::error_code code;
  for (sys::fs::recursive_directory_iterator it(TILE_EMULATOR_INPUTS, code),
       end;
       !code && it != end; it.increment(code)) {
    if (sys::path::extension(it->path()) != ".ptx")
      continue;
    ErrorOr<std::unique_ptr<MemoryBuffer>> buffer =
        MemoryBuffer::getFile(it->path());
    if (!buffer) {
      ADD_FAILURE() << "cannot read " << it->path();
      continue;
    }
    files.push_back((*buffer)->getBuffer().str());
  }
  stable_sort(files, [](const std::string &a, const std::string &b) {
    return a.size() < b.size();
  });
  return files;
}

TEST(PtxRobustnessTest, InputsParse) {
  for (const std::string &text : readInputs()) {
    auto tree = parse(text);
    ASSERT_TRUE(tree) << text.substr(0, 200);
    EXPECT_FALSE(tree->functions.empty());
  }
}

TEST(PtxRobustnessTest, EveryPrefix) {
  StringRef text = everything;
  for (size_t size = 0; size <= text.size(); ++size)
    check(text.take_front(size));
  // Of the real files as many as quickly go.
  for (const std::string &file : readInputs()) {
    size_t step = std::max<size_t>(1, file.size() * file.size() / (1u << 20));
    for (size_t size = 0; size < file.size(); size += step)
      check(StringRef(file).take_front(size));
  }
}

TEST(PtxRobustnessTest, EverySuffixAfterTheHead) {
  StringRef text = everything;
  for (size_t at = 0; at <= text.size(); ++at)
    check(withHeader(text.drop_front(at)));
  for (size_t at = 0; at <= text.size(); ++at)
    check(withBody(text.drop_front(at)));
}

TEST(PtxRobustnessTest, OneByteChanged) {
  const StringRef bytes("\0\n \"'%$._,:;@!-+*/<>(){}[]|&=?~0x9aU\x80", 37);
  std::string text = everything;
  for (size_t i = 0; i < text.size(); ++i) {
    char kept = text[i];
    for (unsigned n = 0; n < 4; ++n) {
      text[i] = bytes[getHash(i, n) % bytes.size()];
      check(text);
    }
    text[i] = kept;
    check(text.substr(0, i) + text.substr(i + 1));
  }
}

TEST(PtxRobustnessTest, TokensMoved) {
  // Words and signs as the grammar has them, put where they do not belong.
  SmallVector<StringRef> words;
  StringRef(everything).split(words, ' ', -1, /*KeepEmpty=*/false);
  for (unsigned n = 0; n < 4000; ++n) {
    SmallVector<StringRef> changed = words;
    for (unsigned i = 0; i < 1 + n % 3; ++i) {
      size_t from = getHash(n, 2 * i) % words.size();
      size_t to = getHash(n, 2 * i + 1) % words.size();
      if (n % 2)
        changed[to] = words[from];
      else
        std::swap(changed[to], changed[from]);
    }
    check(join(changed, " "));
  }
}

TEST(PtxRobustnessTest, InputsMutated) {
  for (const std::string &file : readInputs()) {
    unsigned count = std::max<size_t>(2, (1u << 18) / (file.size() + 1));
    for (unsigned n = 0; n < std::min(count, 64u); ++n) {
      std::string text = file;
      size_t a = getHash(n, file.size()) % file.size();
      size_t b = getHash(n + 64, file.size()) % file.size();
      size_t size = getHash(n, 5) % 40;
      if (n % 2)
        text.insert(a, file.substr(b, size));
      else
        text.erase(a, size);
      check(text);
    }
  }
}

TEST(PtxRobustnessTest, LargeFilesAreQuick) {
  std::string body;
  while (body.size() < (2u << 20))
    body += "\t@%p1 fma.rn.f32 \t%f1, %f2, %f3, %f4;\n"
            "\tld.global.nc.v2.b32 \t{%r1, %r2}, [%rd1+1024];\n";
  std::string text = withBody(body);
  auto begin = std::chrono::steady_clock::now();
  auto tree = parse(text);
  std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  ASSERT_TRUE(tree);
  EXPECT_GT(tree->functions[0].body.size(), 40000u);
  // Quadratic behaviour takes minutes; sanitizers and a busy machine do not.
  EXPECT_LT(time.count(), 10.0);
  RecordProperty("milliseconds", static_cast<int>(time.count() * 1000));
}

} // namespace
