//===- Syntax.h - PTX text as a tree ----------------------------*- C++ -*-===//
//
// What a PTX file says, before anything is known about what its instructions
// do: directives, variables, functions, and statements whose opcodes are still
// words between dots. The grammar is that of the PTX ISA, versions 7.0 to 9.5,
// as LLVM's NVPTX back end, nvcc and Triton write it.
//
// Every name is resolved to its declaration here, with PTX's nested scopes, so
// that whoever reads the tree never looks up a string.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_EMULATOR_SYNTAX_H
#define TILE_EMULATOR_SYNTAX_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/StringSaver.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tile::emulator {

/// A place in a PTX file; lines and columns count from 1, 0 is unknown.
struct Location {
  unsigned line = 0;
  unsigned column = 0;
};

/// A PTX fundamental or instruction type. The names are PTX's own.
enum class Type : uint8_t {
  None,
  Pred,
  B8,
  B16,
  B32,
  B64,
  B128,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  F16,
  F16x2,
  BF16,
  BF16x2,
  TF32,
  F32,
  F32x2,
  F64,
  U16x2,
  S16x2,
  U8x4,
  S8x4,
  // Alternate formats; no register is declared with one of them.
  E4M3,
  E5M2,
  E2M1,
  E2M3,
  E3M2,
  UE8M0,
  UE4M3,
  E4M3x2,
  E5M2x2,
  E2M1x2,
  E2M3x2,
  E3M2x2,
  UE8M0x2,
  E4M3x4,
  E5M2x4,
  E2M1x4,
  E2M3x4,
  E3M2x4,
  U4,
  S4,
  B1,
};

/// The type that PTX spells `name` (without the dot), or nullopt.
std::optional<Type> findType(llvm::StringRef name);
/// PTX's spelling, without the dot.
llvm::StringRef getTypeName(Type type);
/// Bits of one value, 1 for `pred`: 4 for `e2m1`, 8 for `e2m1x2`, 64 for
/// `f32x2`.
unsigned getTypeBits(Type type);

/// Where a variable lives.
enum class StateSpace : uint8_t {
  Generic,
  Register,
  Constant,
  Global,
  Local,
  Parameter,
  Shared,
};
llvm::StringRef getStateSpaceName(StateSpace space);

struct Function;
struct Variable;

/// One value of an initialiser: either a number of the variable's type, or the
/// address of a variable or function plus an offset.
struct InitialValue {
  uint64_t bits = 0;
  const Variable *variable = nullptr;
  const Function *function = nullptr;
  int64_t offset = 0;
  bool generic = false; ///< `generic(name)`: an address in generic space.
  /// Which byte of the address is stored, as a mask: 0xff00 is the second one.
  /// nullopt for all of it.
  std::optional<uint64_t> mask;
};

/// A declared name: a register, a variable of a memory space, or a parameter.
struct Variable {
  Location location;
  llvm::StringRef name; ///< `%r<4>` declares `%r0` … `%r3`, one Variable each.
  StateSpace space = StateSpace::Register;
  Type type = Type::None;
  unsigned vectorSize = 1; ///< 2, 4 or 8 for `.v2`, `.v4`, `.v8`.
  /// Elements of an array; nullopt where the declaration has none (scalar) and
  /// 0 for `name[]`.
  std::optional<uint64_t> elements;
  unsigned alignment = 0;  ///< In bytes; natural where the text has none.
  bool isExternal = false; ///< `.extern`: dynamic shared memory, or undefined.
  bool isVisible = false;  ///< `.visible`, `.weak` or `.common`.
  bool isPointer = false;  ///< A kernel parameter with `.ptr`.
  std::vector<InitialValue> initial; ///< The rest is zero.

  /// Bytes of storage, 0 for an unsized array. Requires: not a register.
  uint64_t getSize() const;
  /// Position among the registers, parameters or locals of its function, or
  /// among the module's variables.
  unsigned index = 0;
};

/// An operand as written.
struct Operand {
  enum class Kind : uint8_t {
    Register, ///< `variable`, perhaps negated (`!%p1`) or a part (`%v.x`).
    Special,  ///< A special register: `text` is "%tid.x".
    Integer,  ///< `bits`, two's complement. WARP_SZ is one, 32.
    Float,    ///< `bits` of an f32 (`0f…`) or f64 (`0d…`, decimal text).
    Symbol,   ///< A variable or function whose address is meant.
    Label,    ///< `label`: an index into `Function::labels`.
    Vector,   ///< `{a, b}`: `children`; also brace lists of call targets.
    Address,  ///< `[base + offset]`: `children[0]` is the base, which is a
              ///< Register, Symbol or Integer; what follows it after commas, if
              ///< anything, is a Vector of tensor coordinates, and before that
              ///< the sampler of a texture.
    List,     ///< `(a, b)`: `children`, the parameters of a call.
    Pair,     ///< `%p|%q` or `%r|%p`: `children`.
    Sink,     ///< `_`
    Word,     ///< Any other word, as written in `text`: so far only a register
              ///< with the selector of a video instruction, `%r1.b0`.
  };

  Kind kind = Kind::Word;
  bool isNegated = false; ///< `!` on a predicate, `-` on a register.
  bool isDouble = false;  ///< Float: `bits` are those of an f64.
  int8_t component = -1;  ///< 0 … 3 for `.x` … `.w` of a vector register.
  Location location;
  llvm::StringRef text; ///< As written.
  const Variable *variable = nullptr;
  const Function *function = nullptr;
  uint64_t bits = 0;
  int64_t offset = 0; ///< Address, Symbol: the bytes added.
  unsigned label = 0;
  std::vector<Operand> children;
};

/// One instruction: guard, opcode words, operands. A label that stands before
/// it is in `Function::labels`.
struct Statement {
  Location location;
  llvm::StringRef text; ///< As written, without guard and semicolon.
  /// The guard predicate, or null.
  const Variable *guard = nullptr;
  bool guardNegated = false;
  /// "mma", "sync", "aligned", "kind::mxf4", …
  llvm::SmallVector<llvm::StringRef, 6> opcode;
  llvm::SmallVector<Operand, 4> operands;
  /// The `.loc` in force: 0-based index into `SyntaxTree::files`, or -1.
  int32_t sourceFile = -1;
  uint32_t sourceLine = 0;
};

/// A label and the statement that it stands before, which may be one past the
/// last. `.branchtargets` and `.calltargets` lists are labels too.
struct Label {
  llvm::StringRef name;
  Location location;
  unsigned statement = 0;
  /// `.branchtargets`: indices of the labels listed. `.calltargets`: functions.
  bool isTargetList = false;
  std::vector<unsigned> targets;
  std::vector<const Function *> callTargets;
  /// `.callprototype`: nothing but its being one is kept.
  bool isPrototype = false;
};

/// A kernel (`.entry`) or a device function (`.func`).
struct Function {
  Location location;
  llvm::StringRef name;
  bool isEntry = false;
  bool isDefined = false;          ///< Has a body.
  std::deque<Variable> parameters; ///< Of the entry or function, in order.
  std::deque<Variable> results;    ///< Return parameters of a `.func`.
  std::deque<Variable> registers;
  /// `.local`, `.shared`, `.param`, `.const`, `.global` variables declared in
  /// the body, in order.
  std::deque<Variable> variables;
  std::vector<Label> labels;
  std::vector<Statement> body;

  /// Performance directives of an entry; 0 where not given.
  unsigned requiredBlock[3] = {0, 0, 0};
  unsigned maxBlock[3] = {0, 0, 0};
  unsigned minBlocksPerMultiprocessor = 0;
  unsigned maxRegisters = 0;
  unsigned requiredCluster[3] = {0, 0, 0};
  bool explicitCluster = false;
};

/// The comment line `// tile.launch entry=NAME block=X,Y,Z shared=BYTES`.
struct LaunchComment {
  llvm::StringRef entry;
  unsigned block[3] = {1, 1, 1};
  uint64_t sharedBytes = 0;
};

/// A whole file. Strings live as long as the tree does.
struct SyntaxTree {
  std::string name;       ///< The file's name in messages.
  unsigned version = 0;   ///< 88 is `.version 8.8`.
  llvm::StringRef target; ///< "sm_120a"; the first word of `.target`.
  unsigned addressSize = 64;
  std::vector<llvm::StringRef> files; ///< `.file`, by position of appearance.
  std::deque<Variable> variables;     ///< Module scope.
  /// Declarations and definitions, merged. A use of a name that `.alias`
  /// declares refers to the function that the alias stands for.
  std::deque<Function> functions;
  std::vector<LaunchComment> launches;

  /// The entry named `name`, or the only one where `name` is empty. The error
  /// lists the entries that there are.
  llvm::Expected<const Function *> findEntry(llvm::StringRef name) const;

  /// The text of a line, or nothing where there is no such line.
  llvm::StringRef getLine(Location location) const;

  /// A PtxError about a place of this file, with its line.
  llvm::Error makeError(Location location, const llvm::Twine &message) const;

  /// Owner of every string above; `source` is the text itself.
  llvm::BumpPtrAllocator allocator;
  std::string source;
};

/// Error of the text or of what the emulator makes of it: prints as
/// `FILE:LINE:COLUMN: error: MESSAGE`, followed by the line and a caret where
/// the text is known.
class PtxError : public llvm::ErrorInfo<PtxError> {
public:
  static char ID;

  /// `sourceLine` is the text of the line, empty where it is not known.
  PtxError(std::string file, Location location, std::string message,
           std::string sourceLine = "")
      : file(std::move(file)), location(location), message(std::move(message)),
        sourceLine(std::move(sourceLine)) {}

  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override;

  llvm::StringRef getFile() const { return file; }
  Location getLocation() const { return location; }
  llvm::StringRef getMessage() const { return message; }

private:
  std::string file;
  Location location;
  std::string message;
  std::string sourceLine;
};

/// Parses PTX text. `name` stands for the file in errors. Never crashes on any
/// text; nesting, sizes and counts are limited (a register range may declare at
/// most 2^20 registers). The first error ends parsing. An opcode is not looked
/// up here: an unknown one is a matter of who decodes it.
llvm::Expected<std::unique_ptr<SyntaxTree>> parsePtx(llvm::StringRef text,
                                                     llvm::StringRef name);

} // namespace tile::emulator

#endif // TILE_EMULATOR_SYNTAX_H
