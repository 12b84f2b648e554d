// zlib, as the system installs it. deflateInit2 is a macro: CZlibShims.
#include <zlib.h>
