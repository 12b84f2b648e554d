#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

// A server on 127.0.0.1 for what nginx cannot do: answers GET after DELAY milliseconds, and POST when its whole body
// has arrived. HTTP/1.1 with Content-Length only, heads of one read. Prints its port; ends with its standard input.

struct connection {
    int descriptor;
    // What is still to come of a body.
    long long left;
    // When to answer; the list is in that order, as all wait equally long.
    long long due;
    struct connection *next;
};

static struct connection *first, *last;
static long long delay;
static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n{\"ok\":true}";
static char buffer[1 << 20];

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (long long)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void reply(const struct connection *connection) {
    if (write(connection->descriptor, answer, sizeof answer - 1) < 0 && errno != EPIPE && errno != ECONNRESET)
        perror("BenchmarkPeer");
}

static void wait_for_delay(struct connection *connection) {
    connection->due = now() + delay;
    connection->next = NULL;
    if (last) last->next = connection;
    else first = connection;
    last = connection;
}

static void forget(struct connection *connection) {
    for (struct connection **link = &first, *before = NULL; *link; before = *link, link = &(*link)->next) {
        if (*link != connection) continue;
        if (last == connection) last = before;
        *link = connection->next;
        break;
    }
    close(connection->descriptor);
    free(connection);
}

static void receive(struct connection *connection) {
    ssize_t count = read(connection->descriptor, buffer, sizeof buffer - 1);
    if (count <= 0) {
        if (count == 0 || (errno != EAGAIN && errno != EINTR)) forget(connection);
        return;
    }
    if (connection->left > 0) {
        connection->left -= count;
        if (connection->left <= 0) reply(connection);
        return;
    }
    buffer[count] = 0;
    char *end = strstr(buffer, "\r\n\r\n"), *length = strcasestr(buffer, "\r\ncontent-length:");
    if (!end) {
        forget(connection);
        return;
    }
    if (strncmp(buffer, "GET ", 4) == 0) {
        wait_for_delay(connection);
        return;
    }
    if (strcasestr(buffer, "100-continue")) {
        static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
        if (write(connection->descriptor, go_on, sizeof go_on - 1) < 0) perror("BenchmarkPeer");
    }
    connection->left = (length && length < end ? atoll(length + 17) : 0) - (buffer + count - (end + 4));
    if (connection->left <= 0) reply(connection);
}

int main(int argc, char **argv) {
    delay = argc > 1 ? atoll(argv[1]) : 2000;
    signal(SIGPIPE, SIG_IGN);
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), epoll = epoll_create1(EPOLL_CLOEXEC);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    if (bind(listener, (struct sockaddr *)&address, size) != 0 || listen(listener, 4096) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &size) != 0) {
        perror("BenchmarkPeer");
        return 1;
    }
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event);
    event.data.ptr = &epoll;
    epoll_ctl(epoll, EPOLL_CTL_ADD, STDIN_FILENO, &event);
    for (;;) {
        long long left = first ? first->due - now() : -1;
        struct epoll_event events[256];
        int ready = epoll_wait(epoll, events, 256, first && left < 0 ? 0 : (int)left);
        for (int i = 0; i < ready; i++) {
            if (events[i].data.ptr == &epoll) return 0;
            if (events[i].data.ptr) {
                receive(events[i].data.ptr);
                continue;
            }
            for (int accepted; (accepted = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0;) {
                struct connection *connection = calloc(1, sizeof *connection);
                if (!connection) abort();
                int on = 1;
                setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
                connection->descriptor = accepted;
                event.data.ptr = connection;
                epoll_ctl(epoll, EPOLL_CTL_ADD, accepted, &event);
            }
        }
        while (first && first->due <= now()) {
            struct connection *connection = first;
            first = connection->next;
            if (!first) last = NULL;
            connection->next = NULL;
            reply(connection);
        }
    }
}
