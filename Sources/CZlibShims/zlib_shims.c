#include "zlib_shims.h"

int nm_deflate_init(z_stream *stream, int level, int window_bits) {
    // 8 is zlib's own default memory level (zlib.h, deflateInit2).
    return deflateInit2(stream, level, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
}

int nm_inflate_init(z_stream *stream, int window_bits) {
    return inflateInit2(stream, window_bits);
}
