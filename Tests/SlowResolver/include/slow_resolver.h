#ifndef NM_SLOW_RESOLVER_H
#define NM_SLOW_RESOLVER_H

// A program that is linked with this resolves names as usual, but for one: looking up "never.test" does not end before
// it is told to. Call it once, so that the linker keeps what stands behind it.
void nm_replace_resolver(void);

// How many times "never.test" has been looked up, each on a thread that is there until it is answered.
int nm_look_ups(void);

// From now on "never.test" is 127.0.0.1, also where it is being looked up.
void nm_let_resolver_answer(void);

#endif
