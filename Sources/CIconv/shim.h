// The character set conversion of the C library.
#include <iconv.h>
