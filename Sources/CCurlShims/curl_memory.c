#include "curl_shims.h"

#include <stdlib.h>
#include <string.h>

// Large blocks of libcurl's are buffers (16 KiB or more) into which nothing is written before something is received.
// Where malloc puts one behind a smaller block, it shares its first page with that and its last with the next, so that a
// transfer that waits keeps 4 KiB of its buffer in memory; at the beginning of a page it keeps none.
static void *allocate(size_t size) {
    if (size < 16 << 10) return malloc(size);
    void *block = NULL;
    return posix_memalign(&block, 4 << 10, size) == 0 ? block : NULL;
}

CURLcode nm_global_init(void) {
    return curl_global_init_mem(CURL_GLOBAL_DEFAULT, allocate, free, realloc, strdup, calloc);
}
