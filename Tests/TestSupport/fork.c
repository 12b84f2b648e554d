#include "test_support.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

int test_call_in_child(void (*work)(void)) {
    pid_t child = fork();
    if (child == 0) {
        signal(SIGALRM, SIG_DFL);
        // Dispatch's threads have all signals blocked, and a child has those of the thread that forks.
        sigset_t alarms;
        sigemptyset(&alarms);
        sigaddset(&alarms, SIGALRM);
        sigprocmask(SIG_UNBLOCK, &alarms, NULL);
        alarm(10);
        work();
        _exit(0);
    }
    int status = -1;
    while (child > 0 && waitpid(child, &status, 0) == -1 && errno == EINTR) {
    }
    return status;
}
