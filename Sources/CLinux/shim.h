// Calls of Linux and of its C library that the Glibc module does not show to Swift.
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>

// The headers show these only with _GNU_SOURCE, which cannot be set for one module alone.
int pthread_setname_np(pthread_t thread, const char *name);
int accept4(int descriptor, struct sockaddr *address, socklen_t *length, int flags);
