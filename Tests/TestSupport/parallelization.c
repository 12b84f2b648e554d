#define _DEFAULT_SOURCE
#include <stdlib.h>

/// Keeps Swift Testing from starting every test at once, which it does without a limit.
///
/// A thousand tests that share two threads keep each other waiting for longer than the limits of time that they test.
/// The variable that is set is read when the tests begin; a value of the caller's stays.
__attribute__((constructor)) static void limit_parallelization(void) {
#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define IS_SANITIZED 1
#endif
#endif
#ifdef IS_SANITIZED
    // What is sanitized takes ten times as long.
    const char *const width = "6";
#else
    const char *const width = "24";
#endif
    setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", width, 0);
}
