// What Swift cannot call in zlib: macros.
#ifndef NM_ZLIB_SHIMS_H
#define NM_ZLIB_SHIMS_H

#include <zlib.h>

/// deflateInit2 with zlib's default memory and strategy; window_bits 15 for zlib, 31 for gzip.
int nm_deflate_init(z_stream *stream, int level, int window_bits);

/// inflateInit2; window_bits 15 for zlib, 31 for gzip, 47 for either, -15 for deflate without a format around it.
int nm_inflate_init(z_stream *stream, int window_bits);

#endif
