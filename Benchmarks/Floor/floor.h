#ifndef BENCHMARK_FLOOR_H
#define BENCHMARK_FLOOR_H

#include <curl/curl.h>
#include <stddef.h>

// What a bare C program on libcurl needs for the same workloads: the floor that clients are compared with.

enum workload { WORKLOAD_GET, WORKLOAD_DOWNLOAD, WORKLOAD_UPLOAD };

struct options {
    enum workload workload;
    const char *url;
    long count;
    long in_flight;
    long warm_up;
    // A PEM file with the one trusted root; NULL for plain http.
    const char *root;
    // How many hosts take turns; their addresses, parsed, when there is more than one.
    long hosts;
    CURLU **urls;
};

// One easy handle, reused from request to request and told its options once.
struct slot {
    CURL *easy;
    // The header section and the body of the response, collected as a client must.
    char *bytes;
    size_t count, capacity;
    size_t left_to_send;
};

struct totals {
    long done, errors;
    long long connections;
};

// How one multi handle is driven until `count` requests are done.
typedef void drive(CURLM *multi, struct slot *slots, const struct options *options, long count, struct totals *totals);

drive drive_with_poll;
drive drive_with_epoll;

// Registers what multi_socket asks for; must be called before a handle is added.
void prepare_epoll(CURLM *multi);
int close_epoll_socket(void *context, curl_socket_t socket);

// Starts `slot` on a request, to the next of the hosts.
void begin(CURLM *multi, struct slot *slot, const struct options *options);
// Takes what libcurl has finished and begins the next requests; returns how many were begun.
long harvest(CURLM *multi, const struct options *options, long count, long *begun, struct totals *totals);

#endif
