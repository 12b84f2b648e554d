#ifndef NM_SLOW_RESOLVER_H
#define NM_SLOW_RESOLVER_H

// A program that is linked with this resolves names as usual, but for one: looking up "never.test" does not end.
// Call it once, so that the linker keeps what stands behind it.
void nm_replace_resolver(void);

#endif
