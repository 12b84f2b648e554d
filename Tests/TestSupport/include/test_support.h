// What happens when the tests are loaded; nothing to call.
#ifndef NM_TEST_SUPPORT_H
#define NM_TEST_SUPPORT_H

#endif
