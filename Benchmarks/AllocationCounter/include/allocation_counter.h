#ifndef ALLOCATION_COUNTER_H
#define ALLOCATION_COUNTER_H

// Pieces of memory that the process has asked for since it began, on all threads and by all libraries.
unsigned long allocation_count(void);

#endif
