// zlib, as the system installs it. deflateInit2 and inflateInit2 are macros: CZlibShims.
#include <zlib.h>
