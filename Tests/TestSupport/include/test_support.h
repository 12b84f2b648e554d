// What happens when the tests are loaded, and what Swift cannot do by itself.
#ifndef NM_TEST_SUPPORT_H
#define NM_TEST_SUPPORT_H

/// Calls a function in a child of fork(2), which is all that the child does.
///
/// Returns what waitpid(2) says of it; it is killed by SIGALRM after ten seconds. −1 where there is no child.
int test_call_in_child(void (*work)(void));

#endif
