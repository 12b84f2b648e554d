// What the thread sanitizer is told about synchronization that it cannot see; without it these do nothing.
#ifndef NM_THREAD_SANITIZER_H
#define NM_THREAD_SANITIZER_H

/// What this thread did so far happens before what a thread does that acquires the address later.
void nm_thread_sanitizer_release(void *address);

/// What was done before the address was released happens before what this thread does from now on.
void nm_thread_sanitizer_acquire(void *address);

#endif
