// What the thread sanitizer must be told about the Swift runtime; nothing to call.
#ifndef NM_SANITIZER_SUPPORT_H
#define NM_SANITIZER_SUPPORT_H

#endif
