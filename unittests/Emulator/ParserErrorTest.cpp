//===- ParserErrorTest.cpp - What the PTX parser says of bad text ---------===//

#include "SyntaxHarness.h"

using namespace llvm;
using namespace tile::emulator;

namespace {

struct Row {
  std::string text;
  const char *error;
};

void check(ArrayRef<Row> rows) {
  for (const Row &row : rows)
    EXPECT_EQ(getError(row.text), row.error) << row.text;
}

/// Of a statement in line 12, after the registers of `withBody`.
void checkBodies(ArrayRef<std::pair<const char *, const char *>> rows) {
  for (auto [body, error] : rows)
    EXPECT_EQ(getError(withBody(body)), error) << body;
}

/// Of an item in line 5.
void checkItems(ArrayRef<std::pair<const char *, const char *>> rows) {
  for (auto [item, error] : rows)
    EXPECT_EQ(getError(withHeader(item)), error) << item;
}

TEST(PtxErrorTest, PrintsTheLineWithACaret) {
  auto print = [](const std::string &text) {
    return toString(parsePtx(text, "dir/k.ptx").takeError());
  };
  EXPECT_EQ(print(withBody("\tadd.s32 %r1,\t%r2, %r33;")),
            "dir/k.ptx:12:20: error: name '%r33' is not declared; '%r<10>' "
            "ends at '%r9'\n"
            "\tadd.s32 %r1,\t%r2, %r33;\n"
            "\t            \t     ^");
  // Of a long line only what is near.
  std::string error = print(withBody("add.s32 " + std::string(5000, ' ') +
                                     "nothing;" + std::string(5000, ' ')));
  EXPECT_LT(error.size(), 400u);
  EXPECT_NE(error.find("12:5009: error: name 'nothing'"), std::string::npos);
  EXPECT_NE(error.find("nothing;"), std::string::npos);
  EXPECT_EQ(toString(make_error<PtxError>("f", Location(), "what")),
            "f: error: what");
  auto tree = parse(withHeader(".global .b32 g;"));
  ASSERT_TRUE(tree);
  EXPECT_EQ(toString(tree->makeError({5, 14}, "no g")),
            "t.ptx:5:14: error: no g\n.global .b32 g;\n             ^");
  EXPECT_EQ(tree->getLine({6, 1}), "");
  EXPECT_EQ(tree->getLine({0, 0}), "");
}

TEST(PtxErrorTest, Head) {
  check({
      {"", "1:1: expects '.version' at the beginning, but found the end of "
           "the file"},
      {".target sm_80", "1:1: expects '.version' at the beginning, but found "
                        "'.target'"},
      {".version", "1:9: expects a PTX version such as '8.8', but found the "
                   "end of the file"},
      {".version 8", "1:10: expects a PTX version such as '8.8', but found "
                     "'8'"},
      {".version 8.10", "1:10: expects a PTX version such as '8.8', but found "
                        "'8.10'"},
      {".version x.y", "1:10: expects a PTX version such as '8.8', but found "
                       "'x'"},
      {".version 6.5\n.target sm_80",
       "1:10: PTX version 6.5 is older than 7.0, the oldest that is "
       "supported"},
      {".version 9.6\n.target sm_80",
       "1:10: PTX version 9.6 is newer than 9.5, the newest that is "
       "supported"},
      {".version 10.0\n.target sm_80",
       "1:10: PTX version 10.0 is newer than 9.5, the newest that is "
       "supported"},
      {".version 8.0\n.address_size 64",
       "2:1: expects '.target' after '.version', but found '.address_size'"},
      {".version 8.0\n.target debug",
       "2:9: expects a target such as 'sm_90', but found 'debug'"},
      {".version 8.0\n.target sm_90x",
       "2:9: expects a target such as 'sm_90', but found 'sm_90x'"},
      {".version 8.0\n.target sm_90,\n",
       "3:1: expects a target such as 'sm_90', but found the end of the file"},
      {".version 8.0\n.target sm_90\n.address_size 32",
       "3:15: only addresses of 64 bits are supported, but '.address_size' is "
       "32"},
      {".version 8.0\n.target sm_90\n.version 8.0",
       "3:1: expects one '.version' only, but found '.version'"},
  });
}

TEST(PtxErrorTest, Text) {
  check({
      {withHeader("/* open\n\n"), "5:1: this comment has no '*/'"},
      {withHeader(".file 1 \"open\n\""),
       "5:9: this quote is not closed on its line"},
      {withHeader("\x80"), "5:1: unexpected byte 0x80"},
      {withHeader(std::string(".global\0 .b32 x;", 16)),
       "5:8: unexpected byte 0x00"},
      {withHeader("  `"), "5:3: unexpected character '`'"},
      {withHeader("#define X 1\n"),
       "5:1: the text has a preprocessor directive; run the C preprocessor on "
       "it first"},
      {withHeader(". global"), "5:1: expects a word after '.'"},
      {withBody("ld. global %r1;"),
       "12:3: expects a word after '.' in an opcode"},
      {withBody("ld.shared:: %r1;"),
       "12:3: expects a word after '.shared::' in an opcode"},
      {"// tile.launch entry=k block=1,2 shared=0\n" + withHeader(""),
       "1:1: expects '// tile.launch entry=NAME block=X,Y,Z shared=BYTES'"},
      {withHeader(" // tile.launch entry=k block=1,2,0 shared=0\n"),
       "5:2: expects '// tile.launch entry=NAME block=X,Y,Z shared=BYTES'"},
  });
}

TEST(PtxErrorTest, ModuleDirectives) {
  checkItems({
      {"foo", "5:1: expects a directive of a module, but found 'foo'"},
      {".globl .b32 x;",
       "5:1: expects a directive of a module, but found '.globl'; did you mean "
       "'.global'?"},
      {".section .debug_info {\n.b8 1\n", "5:22: this section has no '}'"},
      {".section .debug_info;",
       "5:21: expects '{' after the name of a section, but found ';'"},
      {".section {", "5:10: expects the name of a section, but found '{'"},
      {".file x", "5:7: expects the number of a file, but found 'x'"},
      {".file 1 x", "5:9: expects the name of a file in quotes, but found 'x'"},
      {".file 1 \"a\" .file 1 \"b\"", "5:19: file 1 already has the name 'a'"},
      {".loc 1 2", "5:9: expects a column, but found the end of the file"},
      {".loc 1 2 3, at 4",
       "5:13: expects 'function_name' or 'inlined_at', but found 'at'"},
      {".loc 99999999999 2 3",
       "5:6: expects the number of a file of at most 2147483647, but found "
       "'99999999999'"},
      {".pragma x;", "5:9: expects a string in quotes, but found 'x'"},
      {".pragma \"x\"",
       "5:12: expects ';' after a pragma, but found the end of the file"},
      {".alias f, g;", "5:8: function 'f' is not declared"},
      {".func f; .alias f, g;", "5:20: function 'g' is not declared"},
      {".func f; .func g; .alias f, g;", "5:29: 'g' has no body"},
      {".func f; .global .b8 g; .alias f, g;", "5:35: 'g' is no function"},
      {".func f {} .func g {} .alias f, g;",
       "5:30: 'f' has a body and cannot be an alias"},
      {".func f(.reg .b32 a); .func g {} .alias f, g;",
       "5:44: 'g' and its alias 'f' have different parameters"},
      {".attribute(.managed", "5:1: expects a directive of a module, but found "
                              "'.attribute'"},
      {".global .attribute(.managed .b32 x;",
       "5:19: this parenthesis is not closed"},
  });
}

TEST(PtxErrorTest, Variables) {
  checkItems({
      {".reg .b32 r;", "5:1: '.reg' variables belong into a function"},
      {".local .b32 r;", "5:1: '.local' variables belong into a function"},
      {".global x;", "5:9: expects a type, but found 'x'"},
      {".global .b32 .b32 x;", "5:14: expects one type, but found '.b32'"},
      {".global .b33 x;", "5:9: expects a type, but found '.b33'"},
      {".global .e4m3 x;", "5:9: a variable cannot have the type '.e4m3'"},
      {".global .tf32 x;", "5:9: a variable cannot have the type '.tf32'"},
      {".global .pred x;", "5:9: only a register can be a '.pred'"},
      {".global .align 3 .b8 x;",
       "5:16: expects a power of two as alignment, but found 3"},
      {".global .align 0 .b8 x;",
       "5:16: expects a power of two as alignment, but found 0"},
      {".global .b32 x", "5:15: expects ',' or ';' after a variable, but found "
                         "the end of the file"},
      {".global .b32 4;", "5:14: expects the name of a variable, but found "
                          "'4'"},
      {".global .b32 _;", "5:14: '_' is no name of a variable"},
      {".global .b32 WARP_SZ;",
       "5:14: 'WARP_SZ' is predefined and cannot be declared"},
      {".global .b32 x;\n.const .b8 x;",
       "6:12: 'x' is already declared in line 5"},
      {".func x;\n.const .b8 x;", "6:12: 'x' is already declared in line 5"},
      {".extern .global .b32 x;\n.global .b64 x;",
       "6:14: 'x' has another type in line 5"},
      {".global .b32 x<3>, x1;", "5:20: 'x1' is already declared in line 5"},
      {".global .b8 x[];", "5:13: 'x' has neither a size nor values"},
      {".global .b8 x[] = {};", "5:17: 'x' has neither a size nor values"},
      {".global .b8 x[0];", "5:15: expects a size above 0"},
      {".global .b8 x[2][];",
       "5:18: expects a size, which only the first dimension may lack, but "
       "found ']'"},
      {".global .b8 x[1.5];",
       "5:15: expects the size of an array, but found '1.5'"},
      {".global .b8 x[-1];", "5:15: 'x' has more than 4294967296 elements"},
      {".global .b8 x[65536][65536][2];",
       "5:29: 'x' has more than 4294967296 elements"},
      {".global .b8 x[1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1];",
       "5:13: 'x' has more than 16 dimensions"},
      {".global .b8 x[2;", "5:16: expects ']', but found ';'"},
      {".global .b32 x<2000000>;",
       "5:16: expects a number of registers of at most 1048576, but found "
       "'2000000'"},
      {".global .b32 x<2;", "5:17: expects '>', but found ';'"},
  });
}

TEST(PtxErrorTest, Initializers) {
  checkItems({
      {".shared .b32 x = 1;", "5:16: only '.global' and '.const' variables "
                              "have initial values"},
      {".extern .global .b32 x = 1;",
       "5:24: an '.extern' variable has no initial value"},
      {".global .b32 x[2] = 1;", "5:21: expects '{', but found '1'"},
      {".global .b32 x = {1};", "5:18: expects a value, but found '{'"},
      {".global .b32 x[1] = {1, 2};", "5:25: too many values for 'x'"},
      {".global .b32 x[2][1] = {{1}, {2, 3}};",
       "5:34: too many values for 'x'"},
      {".global .b32 x[2][1] = {1, 2};",
       "5:25: expects '{', since 'x' has more dimensions, but found '1'"},
      {".global .b32 x[2] = {1;",
       "5:23: expects ',' or '}' after a value, but found ';'"},
      {".global .f32 x = 1;",
       "5:18: a constant of this kind cannot be the value of a '.f32'"},
      {".global .f16 x = 1.0;",
       "5:18: a constant of this kind cannot be the value of a '.f16'"},
      {".global .s32 x = 1.0;",
       "5:18: a constant of this kind cannot be the value of a '.s32'"},
      {".global .b64 x = y;", "5:18: name 'y' is not declared"},
      {".global .b64 table; .global .b64 x = tabel;",
       "5:38: name 'tabel' is not declared; did you mean 'table'?"},
      {".global .b8 y; .global .b16 x = y;",
       "5:33: an address does not fit into '.b16'; take one byte of it: "
       "0xff(name)"},
      {".global .b8 y; .global .b8 x = 0xff0(y);",
       "5:32: expects a mask of one byte, such as 0xff00"},
      {".shared .b8 y; .global .b64 x = y;",
       "5:33: the address of 'y' is not known before the program runs; only "
       "those of '.global' and '.const' variables are"},
      {".global .b8 y; .global .b64 x = generic(y;",
       "5:42: expects ')', but found ';'"},
      {".global .b8 y; .global .b64 x = y+;",
       "5:35: expects an offset, but found ';'"},
      {".global .b8 y; .global .b64 x = y+1.5;",
       "5:35: expects an integer as offset"},
      {".global .b32 x[1000][65536] = {"
       "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},"
       "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},"
       "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{1}};",
       "5:228: 'x' has more than 4194304 values"},
  });
}

TEST(PtxErrorTest, Functions) {
  checkItems({
      {".entry (", "5:8: expects the name of an entry, but found '('"},
      {".func 3", "5:7: expects the name of a function, but found '3'"},
      {".entry k(.b32 x) {}",
       "5:10: expects '.param' or '.reg', but found '.b32'"},
      {".entry k(.param .b32) {}",
       "5:21: expects the name of a parameter, but found ')'"},
      {".entry k(.param .b32 x {}",
       "5:24: expects ',' or ')' after a parameter, but found '{'"},
      {".entry k(.param .b32 x, .param .b32 x) {}",
       "5:37: 'x' is already declared in line 5"},
      {".func f(.reg .b32 x[2]) {}", "5:20: there are no arrays of registers"},
      {".entry k() .reqntid {}", "5:21: expects a number, but found '{'"},
      {".entry k() .reqntid 0 {}", "5:21: expects a number above 0"},
      {".entry k() .reqntid 1, 2, 3, 4 {}",
       "5:30: expects at most three numbers"},
      {".entry k() .reqtid 1 {}",
       "5:12: expects a directive of a function, '{' or ';', but found "
       "'.reqtid'; did you mean '.reqntid'?"},
      {".entry k() ret;",
       "5:12: expects '{' or ';' after the head of a function, but found "
       "'ret'"},
      {".extern .func f { ret; }", "5:17: an '.extern' function has no body"},
      {".entry k() {}\n.entry k() {}",
       "6:8: 'k' is already declared in line 5"},
      {".func k() {}\n.entry k();", "6:8: 'k' is already declared in line 5"},
      {".func f(.reg .b32 x);\n.func f() {}",
       "6:7: 'f' has 0 parameters here, but 1 in line 5"},
      {".func f();\n.func (.reg .b32 x) f() {}",
       "6:21: 'f' has 1 results here, but 0 in line 5"},
      {".global .b32 f;\n.func f() {}",
       "6:7: 'f' is already declared in line 5"},
      {".entry k() {\n{ ret;\n", "6:1: this brace is not closed"},
      {".entry k() {\nret;\n", "5:12: this brace is not closed"},
      {".entry k() { ret; } }",
       "5:21: expects a directive of a module, but found '}'"},
  });
}

TEST(PtxErrorTest, Statements) {
  checkBodies({
      {"mov.b32 %r1, %r2", "13:1: expects ',' or ';' after an operand, but "
                           "found '}'"},
      {"ret 1 2;", "12:7: expects ',' or ';' after an operand, but found '2'"},
      {"mov.b32 %r1,;", "12:13: expects an operand, but found ';'"},
      {"ret }", "12:5: expects an operand, but found '}'"},
      {"%r1 = 3;", "12:1: expects an instruction, but found '%r1'"},
      {"3;", "12:1: expects a statement, but found '3'"},
      {"@%p1 ;", "12:6: expects an instruction, but found ';'"},
      {"@3 ret;", "12:2: expects a predicate after '@', but found '3'"},
      {"@%q ret;", "12:2: predicate '%q' is not declared; did you mean "
                   "'%v'?"},
      {"@%p4 ret;",
       "12:2: predicate '%p4' is not declared; '%p<4>' ends at '%p3'"},
      {"@%r1 ret;", "12:2: '%r1' is no predicate"},
      {"@k ret;", "12:2: 'k' is no predicate"},
      {".reg .b32 %r3;", "12:11: '%r3' is already declared in line 8"},
      {".reg .b32 x[2];", "12:12: there are no arrays of registers"},
      {".extern .reg .b32 x;",
       "12:9: expects a variable that has a place in memory, but found '.reg'"},
      {".reg .v2 .pred x;", "12:16: there are no vectors of '.pred'"},
      {".reg .b32 x = 1;",
       "12:13: only '.global' and '.const' variables have initial values"},
      {".rge .b32 x;", "12:1: expects a directive of a function, but found "
                       "'.rge'; did you mean '.reg'?"},
      {".entry x() {}",
       "12:1: expects a directive of a function, but found '.entry'"},
      {"L: L: ret;", "12:4: 'L' is already declared in line 12"},
      {".reg .b32 L; L: ret;", "12:14: 'L' is already declared in line 12"},
      {"L: .shared .b32 L;", "12:17: 'L' is already declared in line 12"},
      {"_: ret;", "12:1: '_' is no name of a label"},
  });
  std::string deep = withBody(std::string(300, '{'));
  EXPECT_EQ(getError(deep), "12:254: braces are nested more than 256 deep");
}

TEST(PtxErrorTest, Labels) {
  checkBodies({
      {"bra L;", "12:5: label 'L' is not declared"},
      {"$L__BB0_1: @%p1 bra $L__BB0_2;",
       "12:21: label '$L__BB0_2' is not declared; did you mean "
       "'$L__BB0_1'?"},
      // A label is known inside its braces only.
      {"{ L: ret; } bra L;", "12:17: label 'L' is not declared"},
      {"T: .branchtargets L; L: brx.idx %r1, S;",
       "12:38: label 'S' is not declared"},
      {"T: .branchtargets A, B; A: ret;", "12:22: label 'B' is not declared"},
      {"T: .branchtargets A<2>; A0: ret;",
       "12:19: label 'A1' is not declared; did you mean 'A0'?"},
      {"T: .branchtargets 3;", "12:19: expects a label, but found '3'"},
      {"T: .branchtargets T",
       "13:1: expects ',' or ';' after a label, but found '}'"},
      {"call foo;", "12:6: name 'foo' is not declared"},
      {"T: .calltargets foo;", "12:17: function 'foo' is not declared"},
      {"T: .calltargets a;", "12:17: 'a' is no function"},
      {"T: .calltargets k",
       "13:1: expects ',' or ';' after a function, but found '}'"},
      {"P: .callprototype f;",
       "12:19: expects '_' for the function of a prototype, but found 'f'"},
      {"P: .callprototype _",
       "13:1: expects ';' after a prototype, but found '}'"},
  });
}

TEST(PtxErrorTest, Operands) {
  checkBodies({
      {"mov.b32 %r1, %r10;",
       "12:14: name '%r10' is not declared; '%r<10>' ends at '%r9'"},
      {"mov.b32 %r1, %lanid;",
       "12:14: name '%lanid' is not declared; did you mean '%laneid'?"},
      {"mov.b32 %r1, zzz;", "12:14: name 'zzz' is not declared"},
      {"mov.b32 %r1, {%r2;", "12:18: expects ',' or '}', but found ';'"},
      {"mov.b32 {{%r1}}, %r2;", "12:10: expects an operand, but found '{'"},
      {"mov.b32 {[%r1]}, %r2;", "12:10: expects an operand, but found '['"},
      {"call (%r1, k;", "12:13: expects ',' or ')', but found ';'"},
      {"mov.f32 %f1, %v.q;", "12:16: '%v' has 4 components and no '.q'"},
      {"mov.f32 %f1, %f2.x;", "12:17: '%f2' is no vector and has no '.x'"},
      {"mov.b32 %r1, %tid.q;", "12:18: '%tid' has no '.q'"},
      {"mov.b32 %r1, %laneid.x;", "12:21: '%laneid' has no components"},
      {"mov.b32 %r1, !a;", "12:14: expects a register after '!'"},
      {"mov.b32 %r1, -k;", "12:14: expects a register after '-'"},
      {"mov.b32 %p1|5, %r1;", "12:13: expects a register after '|', but "
                              "found '5'"},
      {"mov.b32 %p1|a, %r1;",
       "12:13: expects a register after '|', but found 'a'"},
      {"mov.b32 a|%p1, %r1;",
       "12:10: expects ',' or ';' after an operand, but found '|'"},
      {"mov.b32 %r1, a[1];",
       "12:15: indexing is not supported; write 'a+BYTES'"},
      {"ld.b32 %r1, [];", "12:14: expects an address, but found ']'"},
      {"ld.b32 %r1, [%rd1;",
       "12:18: expects ']' after an address, but found ';'"},
      {"ld.b32 %r1, [%rd1, %rd2;", "12:24: expects ',' or ']', but found ';'"},
      {"ld.b32 %r1, [%rd1+];", "12:19: expects an offset, but found ']'"},
      {"ld.b32 %r1, [%rd1+%rd2];",
       "12:19: expects an offset, but found '%rd2'"},
      {"ld.b32 %r1, [%rd1+1.0];", "12:19: expects an integer as offset"},
      {"ld.b32 %r1, [1.5];", "12:14: '1.5' is no address"},
      {"ld.b32 %r1, [k];", "12:14: 'k' is no address"},
      {"ld.b32 %r1, [_];", "12:14: '_' is no address"},
      {"ld.b32 %r1, [%tid.x];", "12:14: '%tid.x' is no address"},
      {"ld.b32 %r1, [%rd1, %rd2, %rd3, %rd4];",
       "12:13: this address has too many parts"},
  });
}

TEST(PtxErrorTest, Constants) {
  checkBodies({
      {"x 0x;", "12:3: malformed number '0x'"},
      {"x 0xg;", "12:3: malformed number '0xg'"},
      {"x 08;", "12:3: malformed number '08'"},
      {"x 0b2;", "12:3: malformed number '0b2'"},
      {"x 12abc;", "12:3: malformed number '12abc'"},
      {"x 1.2.3;", "12:3: malformed number '1.2.3'"},
      {"x 1e;", "12:3: malformed number '1e'"},
      {"x 12U3;", "12:3: malformed number '12U3'"},
      {"x 18446744073709551616;",
       "12:3: '18446744073709551616' does not fit in 64 bits"},
      {"x 0f123;", "12:3: expects 8 hexadecimal digits after '0f', but found "
                   "'0f123'"},
      {"x 0d3FF000000000000g;",
       "12:3: expects 16 hexadecimal digits after '0d', but found "
       "'0d3FF000000000000g'"},
      {"x 'ab';", "12:3: malformed character ''ab''"},
      {"x '\\q';", "12:3: malformed character ''\\q''"},
      {"x '';", "12:3: malformed character ''''"},
      {"x 1/0;", "12:4: division by zero"},
      {"x 1%0;", "12:4: division by zero"},
      {"x ~1.5;", "12:3: expects an integer after this operator"},
      {"x 1.5 % 2.0;", "12:7: expects integers on both sides of this operator"},
      {"x 1 + 2.0;", "12:5: expects two integers or two f64 values on the "
                     "sides of this operator"},
      {"x 0f3F800000 + 1.0;",
       "12:14: a '0f' constant takes part in no expression"},
      {"x (1;", "12:5: expects an operator or ')', but found ';'"},
      {"x (.s64 1);", "12:9: expects ')', but found '1'"},
      {"x (.s64)1.5;", "12:8: only an integer can be cast"},
      {"x 1 ? 2;", "12:8: expects an operator or ':', but found ';'"},
      {"x 1 ? 2 : 3.0;", "12:5: expects an integer before '?', and after it "
                         "two integers or two f64 values"},
      {"x 1 +;", "12:6: expects a constant, but found ';'"},
      {"x -;", "12:4: expects a constant, but found ';'"},
  });
  EXPECT_EQ(getError(withBody("x " + std::string(1000, '(') + "1")),
            "12:131: an expression is nested more than 128 deep");
  EXPECT_EQ(getError(withBody("x " + std::string(1000, '~') + "1")),
            "12:131: an expression is nested more than 128 deep");
  EXPECT_EQ(
      getError(withBody("x " + std::string(2000, '1') + ";")).substr(0, 23),
      "12:3: malformed number ");
}

TEST(PtxErrorTest, CountsAreLimited) {
  std::string text;
  for (unsigned i = 0; i < 2; ++i)
    text += ".reg .b32 %r" + std::to_string(i) + "_<1048576>;\n";
  EXPECT_EQ(getError(withBody(text)),
            "13:11: the file declares more than 2097152 variables");
  // The names in messages are cut.
  std::string error = getError(withBody("x " + std::string(100000, 'n') + ";"));
  EXPECT_LT(error.size(), 200u);
}

} // namespace
