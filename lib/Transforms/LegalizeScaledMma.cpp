//===- LegalizeScaledMma.cpp - Native or expanded multiply ----------------===//
//
// This file implements the pass that decides, per target, which instruction
// computes a multiply and whether its scales go to the tensor core or are
// multiplied in. No other pass makes that decision.
//
//===----------------------------------------------------------------------===//

#include "TensorMultiplies.h"
#include "tile/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/TypeUtilities.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Target/MmaAtoms.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

namespace tile {
#define GEN_PASS_DEF_TILELEGALIZESCALEDMMA
#include "tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

/// What the pass needs to know of one multiply.
struct Multiply {
  Operation *op;
  MmaQuery query;
  Type lhs, rhs;
  bool isScaled;
};

/// The outcome for one multiply.
struct Choice {
  const MmaAtom *atom = nullptr;
  bool native = false;
  std::string reason;
};

struct LegalizeScaledMma
    : public tile::impl::TileLegalizeScaledMmaBase<LegalizeScaledMma> {
  using Base::Base;

  void runOnOperation() override;
  /// `auto`, `native` or `expand` for what stands in the kernel of `op`.
  StringRef getPath(Operation *op);
  /// `loopReason`: why the loop of the multiply does not go to tensor memory.
  FailureOr<Choice> choose(const Multiply &multiply, const TargetInfo &info,
                           StringRef path, StringRef loopReason);
  /// The instructions of what goes to tensor memory, and why the loops of other
  /// multiplies do not.
  void findTensorLoops(func::FuncOp kernel, const TargetInfo &info);
  /// Gives each scaled multiply whose loop does not go to tensor memory, or
  /// that is in none, a loop of one iteration of its own, if that does.
  void isolateMultiplies(func::FuncOp kernel, const TargetInfo &info);
  void annotate(const Multiply &multiply, const Choice &choice);

  DenseMap<Operation *, Choice> tensorChoices;
  /// By loop, or by multiply where that is in none.
  DenseMap<Operation *, std::string> tensorReasons;
  /// By loop of one iteration: why the loop around it does not go to tensor
  /// memory; empty where there is none.
  DenseMap<Operation *, std::string> isolationReasons;
};

} // namespace

static Multiply describe(Operation *op) {
  auto elementOf = [&](unsigned operand) {
    return getElementTypeOrSelf(op->getOperand(operand).getType());
  };
  return {op, getMmaQuery(op), elementOf(0), elementOf(1),
          isa<MmaFScaledOp>(op)};
}

static std::string print(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << "'" << type << "'";
  return text;
}

/// Why `info` has no instruction for `multiply`, in terms of what differs: the
/// type pair, if no target has one, else the target. Targets of the same family
/// that have one are listed, since a forgotten suffix is the likeliest reason.
static std::string explainNoNative(const Multiply &multiply,
                                   const TargetInfo &info,
                                   StringRef loopReason) {
  if (selectTensorAtom(multiply.query, info))
    return "tensor memory: " +
           (loopReason.empty() ? "it is in no loop" : loopReason).str();
  SmallVector<StringRef> relatives;
  bool exists = false;
  for (const TargetInfo &other : getTargets()) {
    if (!selectNativeAtom(multiply.query, other) &&
        !selectTensorAtom(multiply.query, other))
      continue;
    exists = true;
    if (other.family == info.family)
      relatives.push_back(other.name);
  }
  std::string what =
      multiply.isScaled ? "block-scaled instruction" : "full-sum instruction";
  if (!exists)
    return "no " + what + " multiplies " + print(multiply.lhs) + " by " +
           print(multiply.rhs);
  std::string reason = info.name.str() + " has no " + what + " for " +
                       print(multiply.lhs) + " by " + print(multiply.rhs);
  if (!relatives.empty())
    reason += "; the family has it on " + llvm::join(relatives, ", ");
  return reason;
}

/// The type in which an expanded multiply feeds the tensor core. bf16 has the
/// range of every scale. f16 holds every unscaled FP8 value, and an f16 operand
/// keeps its bits.
static ElementFormat getMultiplicandFormat(const Multiply &multiply) {
  for (ElementFormat format : {multiply.query.lhs, multiply.query.rhs})
    if (format == ElementFormat::F16 || format == ElementFormat::BF16)
      return format;
  return multiply.isScaled ? ElementFormat::BF16 : ElementFormat::F16;
}

FailureOr<Choice> LegalizeScaledMma::choose(const Multiply &multiply,
                                            const TargetInfo &info,
                                            StringRef path,
                                            StringRef loopReason) {
  Choice choice;
  if (path != "expand") {
    if (auto found = tensorChoices.find(multiply.op);
        found != tensorChoices.end())
      return found->second;
    if (const MmaAtom *atom = selectNativeAtom(multiply.query, info)) {
      choice.atom = atom;
      choice.native = true;
      choice.reason =
          multiply.isScaled && atom->blockSize != multiply.query.blockSize
              ? "the instruction over 32 values, issued twice"
              : "the target has the instruction";
      return choice;
    }
    choice.reason = explainNoNative(multiply, info, loopReason);
    if (path == "native")
      return multiply.op->emitOpError()
             << "has no native form: " << choice.reason
             << "; use mma-path=expand";
  } else {
    choice.reason = "mma-path=expand";
  }
  ElementFormat format = getMultiplicandFormat(multiply);
  choice.atom = selectPlainAtom(format, info);
  if (!choice.atom)
    return multiply.op->emitOpError()
           << "has no instruction for " << getFormatInfo(format).name << " on "
           << info.name;
  // An unscaled multiply of 16-bit operands has nothing to expand.
  choice.native = !multiply.isScaled && multiply.query.lhs == format &&
                  multiply.query.rhs == format;
  if (choice.native)
    choice.reason = "the target has the instruction";
  return choice;
}

StringRef LegalizeScaledMma::getPath(Operation *op) {
  auto function = dyn_cast<func::FuncOp>(op);
  if (!function)
    function = op->getParentOfType<func::FuncOp>();
  if (function)
    if (auto attr = function->getAttrOfType<StringAttr>("tile.mma_path"))
      return attr.getValue();
  return mmaPath;
}

/// Collects what `operand` is loaded and relabelled by, in the order of the
/// program. Returns false if it comes from anything else, or if memory may be
/// written between a load and `multiply`.
static bool collectLoads(Value operand, Operation *multiply,
                         llvm::SetVector<Operation *> &ops) {
  Operation *op = operand.getDefiningOp();
  if (!op || op->getBlock() != multiply->getBlock())
    return false;
  if (isa<UnpackOp, PermuteOp, ReshapeOp>(op)) {
    if (!collectLoads(op->getOperand(0), multiply, ops))
      return false;
    ops.insert(op);
    return true;
  }
  if (!isa<LoadOp>(op))
    return false;
  for (Operation *between = op; between != multiply;
       between = between->getNextNode())
    if (between
            ->walk([](Operation *inner) {
              return isa<StoreOp, ScatterOp>(inner) ? WalkResult::interrupt()
                                                    : WalkResult::advance();
            })
            .wasInterrupted())
      return false;
  ops.insert(op);
  return true;
}

/// Emits, in front of `multiply`, a loop of one iteration that computes the
/// same from the same operands. Null if they are not loaded.
static scf::ForOp isolate(MmaFScaledOp multiply) {
  llvm::SetVector<Operation *> ops;
  for (auto [index, operand] : llvm::enumerate(multiply->getOperands()))
    if (index != 2 && !collectLoads(operand, multiply, ops))
      return {};
  Location loc = multiply.getLoc();
  OpBuilder builder(multiply);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  auto loop =
      scf::ForOp::create(builder, loc, zero, one, one, multiply.getAcc());
  builder.setInsertionPointToStart(loop.getBody());
  IRMapping mapping;
  mapping.map(multiply.getAcc(), loop.getRegionIterArg(0));
  for (Operation *op : ops)
    builder.clone(*op, mapping);
  Operation *clone = builder.clone(*multiply, mapping);
  scf::YieldOp::create(builder, loc, clone->getResults());
  return loop;
}

void LegalizeScaledMma::isolateMultiplies(func::FuncOp kernel,
                                          const TargetInfo &info) {
  DenseSet<Operation *> matched;
  DenseMap<Operation *, std::string> reasons;
  auto find = [&] {
    matched.clear();
    matchTensorLoops(kernel, info, numWarps,
                     [&](scf::ForOp loop, std::optional<TensorLoop> match,
                         StringRef reason) {
                       if (match)
                         matched.insert(loop);
                       else
                         reasons[loop] = reason.str();
                     });
  };
  find();
  SmallVector<std::pair<MmaFScaledOp, scf::ForOp>> isolated;
  kernel.walk([&](MmaFScaledOp multiply) {
    if (!matched.contains(multiply->getParentOp()))
      isolated.push_back({multiply, {}});
  });
  for (auto &[multiply, loop] : isolated)
    loop = isolate(multiply);
  find();
  for (auto [multiply, loop] : isolated) {
    if (!loop)
      continue;
    if (!matched.contains(loop)) {
      // In a loop of the kernel's, what keeps that one out says more.
      if (!isa<scf::ForOp>(multiply->getParentOp()))
        tensorReasons[multiply] = reasons.lookup(loop);
      loop.erase();
      continue;
    }
    // What kept the kernel's own loop out stays of interest.
    isolationReasons[loop] = reasons.lookup(multiply->getParentOp());
    multiply->replaceAllUsesWith(loop.getResults());
    SmallVector<Operation *> dead = {multiply};
    while (!dead.empty()) {
      Operation *op = dead.pop_back_val();
      if (!op->use_empty())
        continue;
      for (Value operand : op->getOperands())
        if (Operation *source = operand.getDefiningOp();
            source && isa<UnpackOp, PermuteOp, ReshapeOp, LoadOp>(source) &&
            !llvm::is_contained(dead, source))
          dead.push_back(source);
      op->erase();
    }
  }
}

void LegalizeScaledMma::findTensorLoops(func::FuncOp kernel,
                                        const TargetInfo &info) {
  if (!info.has(Capability::Tcgen05) || getPath(kernel) == "expand")
    return;
  isolateMultiplies(kernel, info);
  matchTensorLoops(
      kernel, info, numWarps,
      [&](scf::ForOp loop, std::optional<TensorLoop> match, StringRef reason) {
        if (!match) {
          tensorReasons[loop] = reason.str();
          return;
        }
        std::string why = "the target has the instruction";
        if (auto isolated = isolationReasons.find(loop);
            isolated != isolationReasons.end()) {
          why += ", in a loop of one iteration";
          if (!isolated->second.empty())
            why += ": " + isolated->second;
        }
        for (const TensorMultiply &multiply : match->multiplies)
          tensorChoices[multiply.op] =
              Choice{multiply.atom, /*native=*/true, why};
      });
}

void LegalizeScaledMma::annotate(const Multiply &multiply,
                                 const Choice &choice) {
  Builder builder(&getContext());
  StringRef path = choice.native ? "native" : "expand";
  multiply.op->setAttr("path", builder.getStringAttr(path));
  multiply.op->setAttr("atom", builder.getStringAttr(choice.atom->name));
  ++(choice.native ? numNative : numExpanded);

  auto function = multiply.op->getParentOfType<func::FuncOp>();
  remark::RemarkOpts options =
      remark::RemarkOpts::name(multiply.isScaled ? "scaled-mma" : "mma")
          .category(getArgument())
          .function(function ? function.getName() : "");
  auto emit = [&](auto &&remark) {
    remark << remark::metric("path", path)
           << remark::reason("{0}", choice.reason)
           << remark::metric("atom", choice.atom->name)
           << remark::metric("target", target.getValue());
  };
  if (choice.native)
    emit(remark::passed(multiply.op->getLoc(), options));
  else
    emit(remark::missed(multiply.op->getLoc(), options));
}

void LegalizeScaledMma::runOnOperation() {
  llvm::Expected<const TargetInfo *> info = findTarget(target);
  if (!info) {
    getOperation().emitError() << llvm::toString(info.takeError());
    return signalPassFailure();
  }
  if (!llvm::is_contained({"auto", "native", "expand"},
                          StringRef(mmaPath.getValue()))) {
    getOperation().emitError()
        << "expects mma-path to be auto, native or expand, but got '" << mmaPath
        << "'";
    return signalPassFailure();
  }
  for (auto kernel : getOperation().getOps<func::FuncOp>())
    findTensorLoops(kernel, **info);
  WalkResult result = getOperation()->walk([&](Operation *op) {
    if (!isa<MmaFOp, MmaFScaledOp>(op))
      return WalkResult::advance();
    const Multiply multiply = describe(op);
    auto loopReason = tensorReasons.find(op);
    if (loopReason == tensorReasons.end())
      loopReason = tensorReasons.find(op->getParentOp());
    FailureOr<Choice> choice =
        choose(multiply, **info, getPath(op),
               loopReason == tensorReasons.end() ? "" : loopReason->second);
    if (failed(choice))
      return WalkResult::interrupt();
    annotate(multiply, *choice);
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    signalPassFailure();
}
