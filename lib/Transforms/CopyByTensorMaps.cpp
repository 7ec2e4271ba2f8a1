//===- CopyByTensorMaps.cpp - Copies of whole tiles -----------------------===//
//
// This file implements the pass that lets one thread of the warps that copy
// give whole tiles to the hardware. The barrier that says that a slot is full
// then counts the bytes that are to come, and one arrival more: that of the
// thread which says how many. Where nothing else is copied it is the only one.
//
//===----------------------------------------------------------------------===//

#include "tile/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Remarks.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Target/TargetInfo.h"
#include "tile/Transforms/TensorCopies.h"
#include "llvm/ADT/SetVector.h"

namespace tile {
#define GEN_PASS_DEF_TILECOPYBYTENSORMAPS
#include "tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

/// What the warps that copy do.
struct CopierRole {
  SmallVector<CopyAsyncOp> copies;
  SmallVector<CommitCopiesOp> commits;
  SmallVector<ArriveCopiesOp> arrivals;
  Value full;          ///< The barriers that they arrive at.
  InitBarriersOp init; ///< Of `full`.
};

struct CopyByTensorMaps
    : public tile::impl::TileCopyByTensorMapsBase<CopyByTensorMaps> {
  using Base::Base;

  void runOnOperation() override;
  void convert(WarpRolesOp roles, const TargetInfo &info);
};

} // namespace

/// What the role does; the text says why its copies stay as they are.
static std::string match(WarpRolesOp roles, CopierRole &role) {
  roles.getCopiers().walk([&](Operation *op) {
    if (auto copy = dyn_cast<CopyAsyncOp>(op))
      role.copies.push_back(copy);
    else if (auto commit = dyn_cast<CommitCopiesOp>(op))
      role.commits.push_back(commit);
    else if (auto arrive = dyn_cast<ArriveCopiesOp>(op))
      role.arrivals.push_back(arrive);
  });
  if (role.copies.empty())
    return "";
  for (ArriveCopiesOp arrive : role.arrivals) {
    if (role.full && role.full != arrive.getBarriers())
      return "the copies arrive at several barriers";
    role.full = arrive.getBarriers();
  }
  CopyAsyncOp first = role.copies.front();
  if (!role.full || role.commits.size() != 1 ||
      role.commits.front()->getBlock() != first->getBlock())
    return "the copies do not make one group";
  for (CopyAsyncOp copy : role.copies)
    if (copy->getBlock() != first->getBlock() ||
        copy.getSlot() != first.getSlot())
      return "the copies do not fill one slot";
  for (Operation *user : role.full.getUsers())
    if (auto init = dyn_cast<InitBarriersOp>(user)) {
      if (role.init)
        return "the barriers are used twice";
      role.init = init;
    }
  if (!role.init)
    return "the barriers are not initialized";
  return "";
}

static remark::RemarkOpts getRemark(CopyAsyncOp copy) {
  return remark::RemarkOpts::name("copy-tensor")
      .category("tile-copy-by-tensor-maps")
      .function(copy->getParentOfType<func::FuncOp>().getName());
}

/// Says why a copy stays as it is.
static void reportMissed(CopyAsyncOp copy, StringRef reason) {
  remark::missed(copy.getLoc(), getRemark(copy))
      << remark::reason("{0}", reason);
}

void CopyByTensorMaps::convert(WarpRolesOp roles, const TargetInfo &info) {
  CopierRole role;
  std::string reason = match(roles, role);
  if (reason.empty() && !info.has(Capability::Tma))
    reason = (info.name + " has no copies by tensor maps").str();
  if (!reason.empty()) {
    for (CopyAsyncOp copy : role.copies)
      reportMissed(copy, reason);
    return;
  }

  const int64_t numBarriers =
      cast<BarriersType>(role.full.getType()).getCount();
  SmallVector<CopyAsyncOp> converted;
  int64_t bytes = 0;
  for (CopyAsyncOp copy : role.copies) {
    BufferType buffer = copy.getBuffer().getType();
    auto plan = planTensorCopy(copy.getSource(), buffer);
    if (copy.getPredicate())
      plan = "the copy has a condition";
    else if (buffer.getNumSlots() != numBarriers)
      plan = "the buffer has not as many slots as there are barriers";
    if (auto *missed = std::get_if<std::string>(&plan)) {
      reportMissed(copy, *missed);
      continue;
    }
    const auto &found = std::get<TensorCopyPlan>(plan);
    remark::passed(copy.getLoc(), getRemark(copy))
        << remark::metric("boxes", found.parts.size())
        << remark::metric("swizzle", found.swizzle)
        << remark::metric("type", found.type)
        << remark::metric("bytes", found.bytes);
    bytes += found.bytes;
    converted.push_back(copy);
  }
  if (converted.empty())
    return;
  numCopies += converted.size();

  // The bytes are expected before any can come.
  OpBuilder builder(converted.front());
  ExpectBytesOp::create(builder, converted.front().getLoc(), role.full,
                        converted.front().getSlot(), bytes);
  for (CopyAsyncOp copy : converted) {
    builder.setInsertionPoint(copy);
    CopyTensorOp::create(builder, copy.getLoc(), copy.getSource(),
                         copy.getIndices(), copy.getBuffer(), copy.getSlot(),
                         role.full);
    copy.erase();
  }
  if (converted.size() < role.copies.size()) {
    role.init.setArrivals(role.init.getArrivals() + 1);
    return;
  }
  role.init.setArrivals(1);
  role.commits.front().erase();
  for (ArriveCopiesOp arrive : role.arrivals)
    arrive.erase();
}

void CopyByTensorMaps::runOnOperation() {
  llvm::Expected<const TargetInfo *> info = findTarget(target);
  if (!info) {
    getOperation().emitError() << llvm::toString(info.takeError());
    return signalPassFailure();
  }
  for (auto kernel : getOperation().getOps<func::FuncOp>()) {
    bool hasRoles = false;
    kernel.walk([&](WarpRolesOp roles) {
      hasRoles = true;
      convert(roles, **info);
    });
    if (!hasRoles)
      remark::missed(kernel.getLoc(), remark::RemarkOpts::name("copy-tensor")
                                          .category(getArgument())
                                          .function(kernel.getName()))
          << remark::reason("no multiply goes to tensor memory: copies stay as "
                            "they are");
  }
}
