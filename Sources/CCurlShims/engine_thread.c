#include "curl_shims.h"

// A key of pthread's could run out; this cannot.
static _Thread_local const void *engine;

void nm_set_engine_of_thread(const void *of_thread) { engine = of_thread; }

const void *nm_engine_of_thread(void) { return engine; }
