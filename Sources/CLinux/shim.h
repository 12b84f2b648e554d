// Calls of Linux and of its C library that the Glibc module does not show to Swift.
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>

// The header shows it only with _GNU_SOURCE, which cannot be set for one module alone.
int pthread_setname_np(pthread_t thread, const char *name);
