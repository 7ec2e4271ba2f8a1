//===- ThreadSanitizerOptions.cpp - How the sanitizer runs ----------------===//

/// Read by the sanitizer when the program starts. Tests fork where nothing else
/// runs, and LLVM, which is not instrumented, synchronizes in ways that the
/// sanitizer does not see.
extern "C" const char *__tsan_default_options();
extern "C" const char *__tsan_default_options() {
  return "die_after_fork=0:ignore_noninstrumented_modules=1";
}
