#define _GNU_SOURCE
#include "slow_resolver.h"

#include <dlfcn.h>
#include <netdb.h>
#include <string.h>
#include <unistd.h>

typedef int (*resolver)(const char *, const char *, const struct addrinfo *, struct addrinfo **);

// A program's own definition takes the place of the C library's, for the libraries that it loads too.
int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **result) {
    while (name && strcmp(name, "never.test") == 0) pause();
    resolver next = (resolver)dlsym(RTLD_NEXT, "getaddrinfo");
    return next ? next(name, service, hints, result) : EAI_SYSTEM;
}

void nm_replace_resolver(void) {}
