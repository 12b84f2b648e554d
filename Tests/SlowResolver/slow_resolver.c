#define _GNU_SOURCE
#include "slow_resolver.h"

#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>
#include <string.h>

typedef int (*resolver)(const char *, const char *, const struct addrinfo *, struct addrinfo **);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changes = PTHREAD_COND_INITIALIZER;
static int answers, asked;

// A program's own definition takes the place of the C library's, for the libraries that it loads too.
int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **result) {
    if (name && strcmp(name, "never.test") == 0) {
        pthread_mutex_lock(&lock);
        asked++;
        while (!answers) pthread_cond_wait(&changes, &lock);
        pthread_mutex_unlock(&lock);
        name = "127.0.0.1";
    }
    resolver next = (resolver)dlsym(RTLD_NEXT, "getaddrinfo");
    return next ? next(name, service, hints, result) : EAI_SYSTEM;
}

void nm_replace_resolver(void) {}

int nm_look_ups(void) {
    pthread_mutex_lock(&lock);
    int count = asked;
    pthread_mutex_unlock(&lock);
    return count;
}

void nm_let_resolver_answer(void) {
    pthread_mutex_lock(&lock);
    answers = 1;
    pthread_cond_broadcast(&changes);
    pthread_mutex_unlock(&lock);
}
