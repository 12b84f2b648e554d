#include "thread_sanitizer.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HAS_THREAD_SANITIZER 1
#endif
#endif

#ifdef HAS_THREAD_SANITIZER
// Of the sanitizer's interface (sanitizer/tsan_interface.h), which no package of the toolchain's C headers has.
void __tsan_release(void *address);
void __tsan_acquire(void *address);

void nm_thread_sanitizer_release(void *address) { __tsan_release(address); }
void nm_thread_sanitizer_acquire(void *address) { __tsan_acquire(address); }
#else
void nm_thread_sanitizer_release(void *address) { (void)address; }
void nm_thread_sanitizer_acquire(void *address) { (void)address; }
#endif
