#include "floor.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

// multi_socket over epoll. libcurl asks for a descriptor to be forgotten after each request and to be watched again for
// the next; here it stays registered until it is closed, or until something happens that nobody asked for.

enum { descriptor_limit = 65536, events_at_once = 128 };
static int epoll = -1;
static uint8_t wanted[descriptor_limit], registered[descriptor_limit];
// When libcurl wants to be called though nothing happened; -1 for never.
static int64_t deadline = -1;

static int64_t milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int changed(CURL *easy, curl_socket_t socket, int what, void *context, void *socket_context) {
    (void)easy;
    (void)context;
    (void)socket_context;
    if (socket >= descriptor_limit) abort();
    wanted[socket] = what == CURL_POLL_REMOVE ? 0 : (uint8_t)what;
    if (wanted[socket] == 0 || wanted[socket] == registered[socket]) return 0;
    struct epoll_event event = {.data.fd = socket};
    if (what & CURL_POLL_IN) event.events |= EPOLLIN;
    if (what & CURL_POLL_OUT) event.events |= EPOLLOUT;
    int operation = registered[socket] ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    // libcurl's own descriptors are closed without a word, so the table may be wrong about a number.
    if (epoll_ctl(epoll, operation, socket, &event) == -1)
        epoll_ctl(epoll, errno == EEXIST ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, &event);
    registered[socket] = wanted[socket];
    return 0;
}

static int timer(CURLM *multi, long timeout, void *context) {
    (void)multi;
    (void)context;
    deadline = timeout < 0 ? -1 : milliseconds() + timeout;
    return 0;
}

int close_epoll_socket(void *context, curl_socket_t socket) {
    (void)context;
    wanted[socket] = registered[socket] = 0;
    return close(socket);
}

void prepare_epoll(CURLM *multi) {
    epoll = epoll_create1(EPOLL_CLOEXEC);
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, changed);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, timer);
}

void drive_with_epoll(CURLM *multi, struct slot *slots, const struct options *options, long count,
                      struct totals *totals) {
    long begun = 0;
    int running = 0;
    for (; begun < count && begun < options->in_flight; begun++) begin(multi, &slots[begun], options);
    while (totals->done < count) {
        int64_t left = deadline < 0 ? 1000 : deadline - milliseconds();
        struct epoll_event events[events_at_once];
        int ready = left <= 0 ? 0 : epoll_wait(epoll, events, events_at_once, (int)left);
        if (left <= 0) {
            deadline = -1;
            curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
        }
        for (int i = 0; i < ready; i++) {
            int socket = events[i].data.fd, mask = 0;
            if (!wanted[socket]) {
                epoll_ctl(epoll, EPOLL_CTL_DEL, socket, NULL);
                registered[socket] = 0;
                continue;
            }
            if (events[i].events & (EPOLLIN | EPOLLHUP)) mask |= CURL_CSELECT_IN;
            if (events[i].events & EPOLLOUT) mask |= CURL_CSELECT_OUT;
            if (events[i].events & EPOLLERR) mask |= CURL_CSELECT_ERR;
            curl_multi_socket_action(multi, socket, mask, &running);
        }
        harvest(multi, options, count, &begun, totals);
    }
}
