// Linux calls that the Glibc module does not show to Swift.
#include <sys/epoll.h>
#include <sys/eventfd.h>
