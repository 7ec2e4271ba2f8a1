//===- Fiber.cpp - One thread of a block as a coroutine -------------------===//
//
// On x86-64 the switch is a dozen instructions: a kernel switches at every
// multiply, and `swapcontext` makes two system calls each time. Other hosts use
// `swapcontext`.
//
//===----------------------------------------------------------------------===//

#include "Fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define TILE_ASAN_FIBERS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TILE_ASAN_FIBERS 1
#endif
#endif
#ifdef TILE_ASAN_FIBERS
#include <sanitizer/common_interface_defs.h>
#endif

#ifndef __x86_64__
#include <ucontext.h>
#endif

using namespace tile;
using namespace tile::lane;

//===----------------------------------------------------------------------===//
// StackPool
//===----------------------------------------------------------------------===//

static size_t getPageBytes() { return size_t(sysconf(_SC_PAGESIZE)); }

StackPool::~StackPool() {
  if (memory)
    munmap(memory, bytes);
}

llvm::Error StackPool::reserve(size_t wanted) {
  if (wanted <= count)
    return llvm::Error::success();
  if (memory)
    munmap(memory, bytes);
  memory = nullptr;
  count = 0;
  size_t page = getPageBytes();
  bytes = wanted * (stackBytes + page);
  void *map = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED)
    return llvm::createStringError("cannot map %zu bytes of stacks", bytes);
  memory = static_cast<char *>(map);
  count = wanted;
  // A kernel that overflows its stack faults instead of writing into the next.
  for (size_t i = 0; i < count; ++i)
    mprotect(memory + i * (stackBytes + page), page, PROT_NONE);
  return llvm::Error::success();
}

char *StackPool::getStack(size_t index) const {
  size_t page = getPageBytes();
  return memory + index * (stackBytes + page) + page;
}

//===----------------------------------------------------------------------===//
// Fiber
//===----------------------------------------------------------------------===//

#ifdef __x86_64__
/// Saves the registers that a call preserves on the current stack, whose
/// pointer goes to `*from`, and takes up what was saved at `to`.
extern "C" void tileLaneSwitch(void **from, void *to);
asm(R"(
.text
.p2align 4
.globl tileLaneSwitch
.hidden tileLaneSwitch
.type tileLaneSwitch, @function
tileLaneSwitch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size tileLaneSwitch, .-tileLaneSwitch
)");

/// The first thing on a fresh stack: `start` left the fiber in %rbx and the
/// function in %r12.
extern "C" void tileLaneEnter();
asm(R"(
.text
.p2align 4
.globl tileLaneEnter
.hidden tileLaneEnter
.type tileLaneEnter, @function
tileLaneEnter:
  movq %rbx, %rdi
  callq *%r12
  ud2
.size tileLaneEnter, .-tileLaneEnter
)");
#endif

struct Fiber::Context {
#ifdef __x86_64__
  void *self = nullptr;
  void *caller = nullptr;
#else
  ucontext_t self;
  ucontext_t caller;
#endif
  char *stack = nullptr;
#ifdef TILE_ASAN_FIBERS
  void *selfFake = nullptr;
  void *callerFake = nullptr;
  const void *callerStack = nullptr;
  size_t callerBytes = 0;
#endif

  void enter() {
#ifdef TILE_ASAN_FIBERS
    __sanitizer_start_switch_fiber(&callerFake, stack, StackPool::stackBytes);
#endif
#ifdef __x86_64__
    tileLaneSwitch(&caller, self);
#else
    swapcontext(&caller, &self);
#endif
#ifdef TILE_ASAN_FIBERS
    __sanitizer_finish_switch_fiber(callerFake, nullptr, nullptr);
#endif
  }

  void leave() {
#ifdef TILE_ASAN_FIBERS
    __sanitizer_start_switch_fiber(&selfFake, callerStack, callerBytes);
#endif
#ifdef __x86_64__
    tileLaneSwitch(&self, caller);
#else
    swapcontext(&self, &caller);
#endif
    arrive();
  }

  /// What must happen first on the fiber's side of a switch.
  void arrive() {
#ifdef TILE_ASAN_FIBERS
    __sanitizer_finish_switch_fiber(selfFake, &callerStack, &callerBytes);
#endif
  }
};

Fiber::Fiber() : context(std::make_unique<Context>()) {}
Fiber::~Fiber() = default;

void Fiber::run(Fiber *fiber) {
  fiber->context->arrive();
  fiber->entry(fiber->argument);
  fiber->done = true;
  fiber->context->leave();
}

#ifndef __x86_64__
/// The fiber that `makecontext` starts; it passes integers only.
static thread_local Fiber *starting = nullptr;
#endif

void Fiber::start(char *stack, void (*newEntry)(void *), void *newArgument) {
  entry = newEntry;
  argument = newArgument;
  done = false;
  *context = Context();
  context->stack = stack;
#ifdef __x86_64__
  // As `tileLaneSwitch` pops it: six registers, then the return address. The
  // called function must find %rsp + 8 aligned to 16 bytes.
  uintptr_t top =
      (reinterpret_cast<uintptr_t>(stack) + StackPool::stackBytes - 64) &
      ~uintptr_t(15);
  auto *frame = reinterpret_cast<void **>(top) - 7;
  frame[0] = frame[1] = frame[2] = nullptr;         // r15, r14, r13
  frame[3] = reinterpret_cast<void *>(&Fiber::run); // r12
  frame[4] = this;                                  // rbx
  frame[5] = nullptr;                               // rbp
  frame[6] = reinterpret_cast<void *>(&tileLaneEnter);
  context->self = frame;
#else
  getcontext(&context->self);
  context->self.uc_stack.ss_sp = stack;
  context->self.uc_stack.ss_size = StackPool::stackBytes;
  context->self.uc_link = nullptr;
  makecontext(
      &context->self, +[] { run(starting); }, 0);
#endif
}

void Fiber::resume() {
#ifndef __x86_64__
  starting = this;
#endif
  context->enter();
}

void Fiber::yield() { context->leave(); }
