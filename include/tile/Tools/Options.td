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
def PtxRunOption : OptionVisibility;  // ptx-run

class InCompile { list<OptionVisibility> Visibility = [CompileOption]; }
class InRun { list<OptionVisibility> Visibility = [RunOption]; }
class InPtxRun { list<OptionVisibility> Visibility = [PtxRunOption]; }
/// Tools that read kernels of the tile dialect.
class InBoth { list<OptionVisibility> Visibility = [CompileOption, RunOption]; }
/// Tools that launch kernels.
class InRuns { list<OptionVisibility> Visibility = [RunOption, PtxRunOption]; }
class InAll {
  list<OptionVisibility> Visibility = [CompileOption, RunOption, PtxRunOption];
}

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

def help : Switch<"help">, InAll, Group<grp_general>,
  HelpText<"Print this text and exit">;
def : Flag<["-"], "h">, Alias<help>, InAll, Group<grp_general>;
def version : Switch<"version">, InAll, Group<grp_general>,
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
           "if absent. A remark says how many a loop has, and why a load has none">;
def : Twin<"num-stages", num_stages>, InBoth;

def group_programs : Value<"group-programs">, InBoth, Group<grp_kernel>,
  MetaVarName<"N">,
  HelpText<"Run blocks that share operands in groups of N along x, for the L2 "
           "cache; 0 keeps the order of the hardware (default: 8)">;
def : Twin<"group-programs", group_programs>, InBoth;

def unpack_ahead : Value<"unpack-ahead">, InBoth, Group<grp_kernel>,
  MetaVarName<"auto|0|1">, Values<"auto,0,1">,
  HelpText<"Read the operands of the next step of K before the multiplies of "
           "this one (1), or not (0) (default: auto)">;
def : Twin<"unpack-ahead", unpack_ahead>, InBoth;

def mma_path : Value<"mma-path">, InBoth, Group<grp_kernel>,
  MetaVarName<"auto|native|expand">, Values<"auto,native,expand">,
  HelpText<"How scaled multiplies are computed: `native` is an error where the "
           "target has no such instruction, `expand` uses bf16 or f16 "
           "everywhere (default: auto)">;
def : Twin<"mma-path", mma_path>, InBoth;

def fp4_cvt : Value<"fp4-cvt">, InBoth, Group<grp_kernel>,
  MetaVarName<"auto|hardware|software">, Values<"auto,hardware,software">,
  HelpText<"How values are converted to and from FP4; the results are the same "
           "(default: auto)">;
def : Twin<"fp4-cvt", fp4_cvt>, InBoth;

def tma : Value<"tma">, InBoth, Group<grp_kernel>,
  MetaVarName<"on|off">, Values<"on,off">,
  HelpText<"Copy whole tiles by tensor maps where target, kernel and its "
           "promises allow it; the maps are further parameters, which lines of "
           "the PTX describe (default: off)">;
def : Twin<"tma", tma>, InBoth;

def ptx_version : Value<"ptx-version">, InBoth, Group<grp_kernel>,
  MetaVarName<"X.Y">,
  HelpText<"Raise the `.version` of the PTX; the default is the lowest that "
           "has every feature used. From 9.2 on, FP4 and FP8 become bf16 by "
           "single instructions where the target has them">;
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
// Launches
//===----------------------------------------------------------------------===//

def grp_run : OptionGroup<"run">, HelpText<"Run options">;

def device : Value<"device">, InRun, Group<grp_run>,
  MetaVarName<"reference|emulator|cuda">, Values<"reference,emulator,cuda">,
  HelpText<"Where to run; required">;
def : Twin<"device", device>, InRun;

def entry : Value<"entry">, InRuns, Group<grp_run>,
  MetaVarName<"NAME">,
  HelpText<"Kernel to run; needed only where the file has several">;
def : Twin<"entry", entry>, InRuns;

def grid : Value<"grid">, InRuns, Group<grp_run>,
  MetaVarName<"X[,Y[,Z]]">,
  HelpTextForVariants<[PtxRunOption],
    "Blocks in each dimension, at most 2147483647, 65535 and 65535; required">,
  HelpText<"Tile programs in each dimension, at most 2147483647, 65535 and "
           "65535; required">;
def : Twin<"grid", grid>, InRuns;

def block : Value<"block">, InPtxRun, Group<grp_run>,
  MetaVarName<"X[,Y[,Z]]">,
  HelpText<"Threads of a block in each dimension, at most 1024, 1024 and 64, "
           "and 1024 in all; the default is that of `.reqntid` or of the file's "
           "`tile.launch` line">;
def : Twin<"block", block>, InPtxRun;

def shared : Value<"shared">, InPtxRun, Group<grp_run>,
  MetaVarName<"BYTES">,
  HelpText<"Dynamic shared memory of a block; the default is that of the "
           "file's `tile.launch` line, or 0">;
def : Twin<"shared", shared>, InPtxRun;

def threads : Value<"threads">, InRuns, Group<grp_run>,
  MetaVarName<"N">,
  HelpText<"Threads of this machine to run on; results do not depend on it "
           "(default: one per CPU)">;
def : Twin<"threads", threads>, InRuns;

def list_kernels : Switch<"list">, InPtxRun, Group<grp_run>,
  HelpText<"Print the kernels of the file with their parameters, and exit">;

def instructions : Switch<"instructions">, InPtxRun, Group<grp_run>,
  HelpText<"Print the instructions that the emulator knows, as Markdown, and "
           "exit">;

//===----------------------------------------------------------------------===//
// The emulator
//===----------------------------------------------------------------------===//

def grp_emulator : OptionGroup<"emulator">, HelpText<"Emulator options">;

def accumulate : Value<"accumulate">, InRuns, Group<grp_emulator>,
  MetaVarName<"exact|hardware">, Values<"exact,hardware">,
  HelpText<"How tensor-core instructions add: in f64 with one rounding, or "
           "as published models of the target's hardware do (default: exact)">;
def : Twin<"accumulate", accumulate>, InRuns;

def schedule : Value<"schedule">, InRuns, Group<grp_emulator>,
  MetaVarName<"in-order|random">, Values<"in-order,random">,
  HelpText<"In which order warps run: `random` shows races that the default, "
           "in-order, may hide">;
def : Twin<"schedule", schedule>, InRuns;

def seed : Value<"seed">, InRuns, Group<grp_emulator>,
  MetaVarName<"N">,
  HelpText<"Seed of --schedule=random; the same seed gives the same order "
           "(default: 0)">;
def : Twin<"seed", seed>, InRuns;

def allow : Value<"allow">, InRuns, Group<grp_emulator>,
  MetaVarName<"write-write|loose-tensor-memory">,
  Values<"write-write,loose-tensor-memory">,
  HelpText<"Let two blocks store different values to one element, or take as "
           "order between operations on tensor memory what the ISA does not "
           "promise but compilers rely on: barriers without tcgen05.fence, "
           "copies and multiplies as issued">;
def : Twin<"allow", allow>, InRuns;

def step_limit : Value<"step-limit">, InRuns, Group<grp_emulator>,
  MetaVarName<"N">,
  HelpText<"Instructions of warps that one block may execute before it counts "
           "as hung (default: 4000000000)">;
def : Twin<"step-limit", step_limit>, InRuns;

def stats : Switch<"stats">, InRuns, Group<grp_emulator>,
  HelpText<"Print what the launch did: instructions, memory traffic, bank "
           "conflicts, …">;
def stats_EQ : Joined<["--"], "stats=">, InRuns, Group<grp_emulator>,
  MetaVarName<"json">, Values<"json">,
  HelpText<"Print the same as one JSON object">;
def stats_per_line : Switch<"stats-per-line">, InRuns, Group<grp_emulator>,
  HelpText<"Print the counters of each PTX instruction as well">;

def trace : Value<"trace">, InRuns, Group<grp_emulator>,
  MetaVarName<"BLOCK:WARP[:LANE]">,
  HelpText<"Print what one warp, or one lane of it, executes and writes, to the "
           "standard error; BLOCK is X[,Y[,Z]]">;
def : Twin<"trace", trace>, InRuns;

def watch : Value<"watch">, InRuns, Group<grp_emulator>,
  MetaVarName<"ARG[+OFFSET[:BYTES]]">,
  HelpText<"Print every access to BYTES (default: 1) bytes at OFFSET of array "
           "ARG, an argument counted from 0, to the standard error">;
def : Twin<"watch", watch>, InRuns;
