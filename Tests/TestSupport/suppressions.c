#include "test_support.h"

/// Read by the thread sanitizer when a program that contains it starts (sanitizer common flags, suppressions).
const char *__tsan_default_suppressions(void);

const char *__tsan_default_suppressions(void) {
    // A continuation that is resumed before its task has come to wait is handed over by an atomic of the Swift runtime,
    // which is not instrumented: the sanitizer sees the runtime's own slot written and read on two threads. Only
    // a race whose innermost frame is that function is left out, none in what it calls.
    return "race_top:withUnsafeThrowingContinuation\nrace_top:withUnsafeContinuation\n";
}
