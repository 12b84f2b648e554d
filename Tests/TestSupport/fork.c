#include "test_support.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

int test_call_in_child(void (*work)(void)) {
    pid_t child = fork();
    if (child == 0) {
        signal(SIGALRM, SIG_DFL);
        alarm(10);
        work();
        _exit(0);
    }
    int status = -1;
    while (child > 0 && waitpid(child, &status, 0) == -1 && errno == EINTR) {
    }
    return status;
}
