//===- Options.td - Command lines of the tile tools --------*- tablegen -*-===//
//
// One table for every tool, so that an option has one name, one meaning and one
// help text wherever it appears. An option's visibility says which tools know
// it; Options.h holds the matching bits. `tile-opt`, `tile-reduce` and the
// language server take MLIR's own command lines instead.
//
//===----------------------------------------------------------------------===//

include "llvm/Option/OptParser.td"

def CompileOption : OptionVisibility; // tile-compile
def RunOption : OptionVisibility;     // tile-run

class InCompile { list<OptionVisibility> Visibility = [CompileOption]; }
class InRun { list<OptionVisibility> Visibility = [RunOption]; }
class InBoth { list<OptionVisibility> Visibility = [CompileOption, RunOption]; }

/// A boolean `--name`.
class Switch<string name> : Flag<["--"], name>;
/// `--name=VALUE`; each has a `--name VALUE` twin, see `Twin`.
class Value<string name> : Joined<["--"], name # "=">;
class Twin<string name, Option option> : Separate<["--"], name>,
                                         Alias<option>;

//===----------------------------------------------------------------------===//
// General
//===----------------------------------------------------------------------===//

def grp_general : OptionGroup<"general">, HelpText<"General options">;

def help : Switch<"help">, InBoth, Group<grp_general>,
  HelpText<"Print this text and exit">;
def : Flag<["-"], "h">, Alias<help>, InBoth, Group<grp_general>;
def version : Switch<"version">, InBoth, Group<grp_general>,
  HelpText<"Print the version and exit">;

def o : JoinedOrSeparate<["-"], "o">, InCompile, Group<grp_general>,
  MetaVarName<"FILE">,
  HelpText<"Write to FILE; `-` is the standard output, and the default">;

def D : JoinedOrSeparate<["-"], "D">, InBoth, Group<grp_general>,
  MetaVarName<"NAME=VALUE">,
  HelpText<"Replace ${NAME} in the kernel file. An integer VALUE may also take "
           "part in expressions such as ${NAME/16}, with + - * / and "
           "parentheses; a division must be exact">;

def remarks : Switch<"remarks">, InBoth, Group<grp_general>,
  HelpText<"Print every remark: the path of each multiply, and the reason">;

//===----------------------------------------------------------------------===//
// What a kernel leaves open
//===----------------------------------------------------------------------===//

def grp_kernel : OptionGroup<"kernel">,
  HelpText<"Compile options (the attributes of a kernel win over these)">;

def target : Value<"target">, InBoth, Group<grp_kernel>,
  MetaVarName<"NAME">,
  HelpTextForVariants<[RunOption],
    "Target to compile for, e.g. sm_120a; the reference device needs none">,
  HelpText<"Target to compile for, e.g. sm_80 or sm_120a; required">;
def : Twin<"target", target>, InBoth;

def num_warps : Value<"num-warps">, InBoth, Group<grp_kernel>,
  MetaVarName<"N">,
  HelpText<"Warps per block, a power of two from 1 to 32; chosen by the "
           "compiler if absent">;
def : Twin<"num-warps", num_warps>, InBoth;

def num_stages : Value<"num-stages">, InBoth, Group<grp_kernel>,
  MetaVarName<"N">,
  HelpText<"Stages of the software pipeline, from 1 to 8; chosen by the compiler "
           "if absent. Loads are not pipelined yet: a remark says so">;
def : Twin<"num-stages", num_stages>, InBoth;

def mma_path : Value<"mma-path">, InBoth, Group<grp_kernel>,
  MetaVarName<"auto|native|expand">, Values<"auto,native,expand">,
  HelpText<"How scaled multiplies are computed: `native` is an error where the "
           "target has no such instruction, `expand` uses bf16 or f16 "
           "everywhere (default: auto)">;
def : Twin<"mma-path", mma_path>, InBoth;

def fp4_cvt : Value<"fp4-cvt">, InBoth, Group<grp_kernel>,
  MetaVarName<"auto|hardware|software">, Values<"auto,hardware,software">,
  HelpText<"How values are converted to FP4; the results are the same "
           "(default: auto)">;
def : Twin<"fp4-cvt", fp4_cvt>, InBoth;

def ptx_version : Value<"ptx-version">, InBoth, Group<grp_kernel>,
  MetaVarName<"X.Y">,
  HelpText<"Raise the `.version` of the PTX; the default is the lowest that "
           "has every feature used">;
def : Twin<"ptx-version", ptx_version>, InBoth;

def lineinfo : Switch<"lineinfo">, InBoth, Group<grp_kernel>,
  HelpText<"Emit `.loc` for the lines of the kernel file">;

def dump_stages : Value<"dump-stages">, InBoth, Group<grp_kernel>,
  MetaVarName<"DIR">,
  HelpText<"Write the IR after each stage of the compiler to DIR">;
def : Twin<"dump-stages", dump_stages>, InBoth;

//===----------------------------------------------------------------------===//
// tile-compile
//===----------------------------------------------------------------------===//

def grp_output : OptionGroup<"output">, HelpText<"Output options">;

def emit : Value<"emit">, InCompile, Group<grp_output>,
  MetaVarName<"mlir|nvvm|llvm|ptx|cubin">,
  Values<"mlir,nvvm,llvm,ptx,cubin">,
  HelpText<"What to write: the tile dialect with its layouts, the nvvm "
           "dialect, LLVM IR, PTX, or a cubin, which needs -o FILE and also "
           "writes FILE.launch (default: ptx)">;
def : Twin<"emit", emit>, InCompile;

def print_resources : Switch<"print-resources">, InCompile, Group<grp_output>,
  HelpText<"Assemble the PTX and print registers, spills and shared memory of "
           "each kernel to the standard error">;

def ptxas : Value<"ptxas">, InCompile, Group<grp_output>,
  MetaVarName<"FILE">,
  HelpText<"The assembler. If absent: $TILE_PTXAS, the one that scripts/setup "
           "installs, PATH, $CUDA_HOME/bin">;
def : Twin<"ptxas", ptxas>, InCompile;

//===----------------------------------------------------------------------===//
// tile-run
//===----------------------------------------------------------------------===//

def grp_run : OptionGroup<"run">, HelpText<"Run options">;

def device : Value<"device">, InRun, Group<grp_run>,
  MetaVarName<"reference|emulator|cuda">, Values<"reference,emulator,cuda">,
  HelpText<"Where to run; required">;
def : Twin<"device", device>, InRun;

def entry : Value<"entry">, InRun, Group<grp_run>,
  MetaVarName<"NAME">,
  HelpText<"Kernel to run; needed only where the file has several">;
def : Twin<"entry", entry>, InRun;

def grid : Value<"grid">, InRun, Group<grp_run>,
  MetaVarName<"X[,Y[,Z]]">,
  HelpText<"Tile programs in each dimension, at most 2147483647, 65535 and "
           "65535; required">;
def : Twin<"grid", grid>, InRun;

def stats : Switch<"stats">, InRun, Group<grp_run>,
  HelpText<"Print the counters of the emulator">;
def stats_EQ : Joined<["--"], "stats=">, InRun, Group<grp_run>,
  MetaVarName<"json">, Values<"json">,
  HelpText<"Print the counters of the emulator as JSON">;
