// Calls of Linux and of its C library that the Glibc module does not show to Swift.
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>

// The header shows these two only with _GNU_SOURCE, which cannot be set for one module alone.
int pthread_setname_np(pthread_t thread, const char *name);
int pthread_timedjoin_np(pthread_t thread, void **result, const struct timespec *limit);
