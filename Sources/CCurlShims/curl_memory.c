#include "curl_shims.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

// Every transfer has a receive buffer of 16 KiB while it waits, into which nothing is written before something is
// received. Among malloc's blocks such buffers lie on pages that others have written to, and each that was used once
// keeps its pages in memory. Here they have addresses of their own, which are reserved and not in memory: a buffer that
// waits costs nothing, and of those that were used and given back, the pages of all but some go back to the system.

enum {
    // CURLOPT_BUFFERSIZE of 16 KiB, and the zero that libcurl puts behind it.
    bufferSize = (16 << 10) + 1,
    // As many as requests may wait at once; further ones get their buffers from malloc.
    placeCount = 1 << 14,
    // Places that are made accessible together.
    stride = 64,
    // Buffers given back whose pages are kept for the next ones, as getting a page from the system takes a microsecond.
    keptCount = 256,
    none = UINT16_MAX,
};

static struct {
    pthread_mutex_t lock;
    // Set once, before libcurl allocates anything; a size of 0 where nothing is reserved.
    char *start;
    size_t size;
    int placeShift;
    // How many places have been made accessible, and how many of them have ever been taken.
    size_t opened, taken;
    // The places that were given back: the newest of those in memory and of the others, and behind each the one before.
    uint16_t kept, others, before[placeCount];
    size_t inMemory;
} buffers = {.lock = PTHREAD_MUTEX_INITIALIZER, .kept = none, .others = none};

static int mayReserve(void) {
#if defined(__SANITIZE_ADDRESS__)
    return 0;  // It watches over malloc's blocks only.
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
    return 0;
#endif
#endif
    // Where addresses are rationed, the program needs them.
    struct rlimit limit;
    return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY;
}

// A child of fork(2) has one thread, and none that would ever unlock what another one had locked, as malloc sees to for
// its own locks.
static void lockBuffers(void) { pthread_mutex_lock(&buffers.lock); }
static void unlockBuffers(void) { pthread_mutex_unlock(&buffers.lock); }

static void reserve(void) {
    if (!mayReserve() || pthread_atfork(lockBuffers, unlockBuffers, unlockBuffers) != 0) return;
    // More than a buffer, in whole pages, which have 64 KiB on some systems; a power of two, for the sake of the shift.
    buffers.placeShift = sysconf(_SC_PAGESIZE) > 4 << 10 ? 16 : 15;
    size_t size = (size_t)placeCount << buffers.placeShift;
    char *start = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) return;
    // With huge pages one byte would bring 2 MiB into memory.
    madvise(start, size, MADV_NOHUGEPAGE);
    buffers.start = start;
    buffers.size = size;
}

static int isBuffer(const void *block) { return (uintptr_t)block - (uintptr_t)buffers.start < buffers.size; }

static char *placed(size_t place) { return buffers.start + (place << buffers.placeShift); }

// Makes further places accessible; whether there are any.
static int openPlaces(void) {
    if (buffers.size == 0 || buffers.opened == placeCount) return 0;
    size_t size = (size_t)stride << buffers.placeShift;
    if (mprotect(placed(buffers.opened), size, PROT_READ | PROT_WRITE) != 0) return 0;
    buffers.opened += stride;
    return 1;
}

// Not inlined, as little as what follows: libcurl frees a hundred blocks for each buffer.
__attribute__((noinline)) static void *takeBuffer(void) {
    size_t place = none;
    pthread_mutex_lock(&buffers.lock);
    if (buffers.kept != none) {
        place = buffers.kept;
        buffers.kept = buffers.before[place];
        buffers.inMemory--;
    } else if (buffers.others != none) {
        place = buffers.others;
        buffers.others = buffers.before[place];
    } else if (buffers.taken < buffers.opened || openPlaces()) {
        place = buffers.taken++;
    }
    pthread_mutex_unlock(&buffers.lock);
    return place == none ? NULL : placed(place);
}

__attribute__((noinline)) static void giveBack(char *buffer) {
    size_t place = (size_t)(buffer - buffers.start) >> buffers.placeShift;
    pthread_mutex_lock(&buffers.lock);
    if (buffers.inMemory < keptCount) {
        buffers.before[place] = buffers.kept;
        buffers.kept = (uint16_t)place;
        buffers.inMemory++;
    } else {
        madvise(buffer, bufferSize, MADV_DONTNEED);
        buffers.before[place] = buffers.others;
        buffers.others = (uint16_t)place;
    }
    pthread_mutex_unlock(&buffers.lock);
}

__attribute__((noinline)) static void *moveBuffer(char *buffer, size_t size) {
    void *other = nm_allocate(size);
    if (!other) return NULL;
    memcpy(other, buffer, size < bufferSize ? size : bufferSize);
    giveBack(buffer);
    return other;
}

void *nm_allocate(size_t size) {
    if (size < 16 << 10) return malloc(size);
    if (size == bufferSize) {
        void *buffer = takeBuffer();
        if (buffer) return buffer;
    }
    // Larger ones begin a page too, so that they share as few as may be with other blocks.
    void *block = NULL;
    return posix_memalign(&block, 4 << 10, size) == 0 ? block : NULL;
}

void nm_release(void *block) {
    if (!block) return;
    if (isBuffer(block)) {
        giveBack(block);
    } else {
        free(block);
    }
}

// libcurl resizes no receive buffer, but another block may have the size of one.
void *nm_resize(void *block, size_t size) {
    return isBuffer(block) ? moveBuffer(block, size) : realloc(block, size);
}

int nm_lays_buffers_apart(void) { return buffers.size > 0; }

CURLcode nm_global_init(void) {
    reserve();
    return curl_global_init_mem(CURL_GLOBAL_DEFAULT, nm_allocate, nm_release, nm_resize, strdup, calloc);
}
