//===- Fences.cpp - membar and fence --------------------------------------===//
//
// Warps run one instruction at a time on memory that all of them see, so a
// fence has nothing to wait for. What it means for races: accesses are ordered
// by the atomics and barriers that the fence stands beside, and a proxy fence
// publishes what its warp knows of to the async proxy.
//
//===----------------------------------------------------------------------===//

#include "ClusterBarrier.h"
#include "MemoryAccess.h"
#include "TensorMapAccess.h"

namespace tile::emulator {
namespace {

using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

void executeFence(const Instruction &, Lanes &) {}

void executeProxyFence(const Instruction &, Lanes &lanes) {
  lanes.warp->getBlock().getShared().fenceProxy(lanes.warp->getIndex());
}

void executeReleaseMaps(const Instruction &, Lanes &lanes) {
  lanes.warp->getBlock().getState<TensorMapFences>().changed.clear();
}

void executeAcquireMap(const Instruction &instruction, Lanes &lanes) {
  uint64_t addresses[kLanes];
  if (evaluate(instruction, lanes,
               *static_cast<const AddressOperand *>(instruction.data),
               addresses))
    acquireTensorMaps(instruction, lanes, addresses);
}

Error emitFence(Decoder &decoder, Execute execute) {
  if (Error error = decoder.expectOperands(0, 0))
    return error;
  decoder.emit(execute, InstructionClass::Barrier);
  return Error::success();
}

/// `fence.proxy.…` and `membar.proxy.…`, after those words.
Error decodeProxyFence(Decoder &decoder) {
  if (decoder.take("alias"))
    return emitFence(decoder, executeFence);
  if (decoder.take("tensormap::generic")) {
    StringRef semantics = decoder.takeAny({"acquire", "release"});
    if (semantics.empty() ||
        decoder.takeAny({"cta", "cluster", "gpu", "sys"}).empty())
      return decoder.error("expects .acquire or .release, and a scope");
    if (semantics == "release")
      return emitFence(decoder, executeReleaseMaps);
    if (Error error = decoder.expectOperands(2, 2))
      return error;
    Expected<AddressOperand> address = decoder.address(0u);
    if (!address)
      return address.takeError();
    Expected<int64_t> size = decoder.integer(1);
    if (!size)
      return size.takeError();
    if (*size != 128)
      return decoder.error(decoder.getOperand(1),
                           "expects a size of 128, but got " +
                               llvm::Twine(*size));
    decoder.emit(executeAcquireMap, InstructionClass::Barrier).data =
        decoder.getProgram().own(*address);
    return Error::success();
  }
  if (decoder.take("async::generic")) {
    if (decoder.takeAny({"acquire", "release"}).empty() ||
        decoder
            .takeAny({"sync_restrict::shared::cluster",
                      "sync_restrict::shared::cta"})
            .empty() ||
        !decoder.take("cluster"))
      return decoder.error("expects .acquire or .release, .sync_restrict and "
                           ".cluster");
    return emitFence(decoder, executeProxyFence);
  }
  if (!decoder.take("async"))
    return decoder.error("expects .alias, .async, .async::generic or "
                         ".tensormap::generic");
  if (decoder.getArchitecture() < 90)
    return decoder.error("fence.proxy.async expects sm_90 or newer");
  StringRef space =
      decoder.takeAny({"global", "shared::cta", "shared::cluster"});
  return emitFence(decoder,
                   space == "global" ? executeFence : executeProxyFence);
}

Error decodeFence(Decoder &decoder) {
  if (decoder.take("proxy"))
    return decodeProxyFence(decoder);
  if (decoder.take("mbarrier_init")) {
    if (!decoder.take("release") || !decoder.take("cluster"))
      return decoder.error("expects .mbarrier_init.release.cluster");
    return emitFence(decoder, executeFence);
  }
  StringRef semantics =
      decoder.takeAny({"sc", "acq_rel", "acquire", "release"});
  StringRef restriction = decoder.takeAny(
      {"sync_restrict::shared::cluster", "sync_restrict::shared::cta"});
  StringRef scope = decoder.takeAny({"cta", "cluster", "gpu", "sys"});
  if (scope.empty())
    return decoder.error("expects a scope: .cta, .cluster, .gpu or .sys");
  const bool isOneWay = semantics == "acquire" || semantics == "release";
  if (isOneWay && decoder.getArchitecture() < 90)
    return decoder.error("." + semantics + " expects sm_90 or newer");
  if (!restriction.empty() &&
      (!isOneWay || scope != "cluster" ||
       (semantics == "acquire") != restriction.ends_with("cluster")))
    return decoder.error("expects .acquire with "
                         ".sync_restrict::shared::cluster and .release with "
                         ".sync_restrict::shared::cta, and .cluster");
  return emitFence(decoder, executeFence);
}

Error decodeMembar(Decoder &decoder) {
  if (decoder.take("proxy"))
    return decodeProxyFence(decoder);
  if (decoder.takeAny({"cta", "gl", "sys"}).empty())
    return decoder.error("expects .cta, .gl or .sys");
  return emitFence(decoder, executeFence);
}

} // namespace

void registerFences(InstructionTable &table) {
  constexpr llvm::StringLiteral kGroup = "Fences";
  table.add("fence",
            "fence{.sc,.acq_rel,.acquire,.release}{.sync_restrict}.scope, "
            "fence.mbarrier_init.release.cluster, "
            "fence.proxy.{alias,async,async::generic,tensormap::generic}",
            kGroup, decodeFence);
  registerClusterBarrier(table);
  table.add("membar", "membar.{cta,gl,sys}, membar.proxy.{alias,async}", kGroup,
            decodeMembar);
}

} // namespace tile::emulator
