#include "floor.h"

#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

// What one upload sends.
static const size_t upload_size = (size_t)256 << 20;
static X509_STORE *store;

static void fail(const char *what) {
    fprintf(stderr, "BenchmarkFloor: %s\n", what);
    exit(1);
}

static size_t keep(char *bytes, size_t size, size_t count, void *context) {
    struct slot *slot = context;
    size_t added = size * count;
    if (slot->count + added > slot->capacity) {
        slot->capacity = (slot->count + added) * 2;
        char *larger = realloc(slot->bytes, slot->capacity);
        if (!larger) fail("out of memory");
        slot->bytes = larger;
    }
    memcpy(slot->bytes + slot->count, bytes, added);
    slot->count += added;
    return added;
}

static size_t count_only(char *bytes, size_t size, size_t count, void *context) {
    (void)bytes;
    ((struct slot *)context)->count += size * count;
    return size * count;
}

static size_t send_zeros(char *room, size_t size, size_t count, void *context) {
    struct slot *slot = context;
    size_t sent = size * count < slot->left_to_send ? size * count : slot->left_to_send;
    memset(room, 0, sent);
    slot->left_to_send -= sent;
    return sent;
}

static CURLcode use_store(CURL *easy, void *context, void *unused) {
    (void)easy;
    (void)unused;
    SSL_CTX_set1_cert_store(context, store);
    return CURLE_OK;
}

static void load_root(const char *path) {
    store = X509_STORE_new();
    if (!store || X509_STORE_load_locations(store, path, NULL) != 1) fail("cannot read the root");
}

static CURLU *parsed(const char *text) {
    CURLU *url = curl_url();
    if (!url || curl_url_set(url, CURLUPART_URL, text, 0) != CURLUE_OK) fail("bad URL");
    return url;
}

// One URL for each host: "{n}" stands for its number, "{ip}" for two parts of an address.
static CURLU **parse_hosts(const char *pattern, long hosts) {
    CURLU **urls = calloc((size_t)hosts, sizeof *urls);
    const char *mark = strchr(pattern, '{'), *rest = mark ? strchr(mark, '}') : NULL;
    if (!urls || !rest) fail("the URL has no mark for the host");
    for (long host = 0; host < hosts; host++) {
        char text[512], place[32];
        if (mark[1] == 'n') snprintf(place, sizeof place, "%ld", host);
        else snprintf(place, sizeof place, "%ld.%ld", 1 + host / 250, 1 + host % 250);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(mark - pattern), pattern, place, rest + 1);
        urls[host] = parsed(text);
    }
    return urls;
}

// Tells a handle everything, once: a URL that is parsed already and no look for a proxy are a quarter of a request.
static void prepare(struct slot *slot, const struct options *options, int uses_epoll, CURLSH *share) {
    slot->easy = curl_easy_init();
    if (!slot->easy) fail("out of memory");
    CURL *easy = slot->easy;
    if (!options->urls) curl_easy_setopt(easy, CURLOPT_CURLU, parsed(options->url));
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, slot);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, keep);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, slot);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, options->workload == WORKLOAD_DOWNLOAD ? count_only : keep);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, slot);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    curl_easy_setopt(easy, CURLOPT_SHARE, share);
    if (uses_epoll) curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, close_epoll_socket);
    if (options->root) {
        curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
        curl_easy_setopt(easy, CURLOPT_CAINFO, NULL);
        curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
        curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, use_store);
    }
    if (options->workload == WORKLOAD_DOWNLOAD) curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 256L << 10);
    if (options->workload == WORKLOAD_UPLOAD) {
        curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, 256L << 10);
        curl_easy_setopt(easy, CURLOPT_POST, 1L);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)upload_size);
        curl_easy_setopt(easy, CURLOPT_READFUNCTION, send_zeros);
        curl_easy_setopt(easy, CURLOPT_READDATA, slot);
        curl_easy_setopt(easy, CURLOPT_HTTPHEADER, curl_slist_append(NULL, "Expect:"));
    }
}

void begin(CURLM *multi, struct slot *slot, const struct options *options) {
    static long next = 0;
    if (options->urls) curl_easy_setopt(slot->easy, CURLOPT_CURLU, options->urls[next++ % options->hosts]);
    slot->count = 0;
    slot->left_to_send = options->workload == WORKLOAD_UPLOAD ? upload_size : 0;
    curl_multi_add_handle(multi, slot->easy);
}

long harvest(CURLM *multi, const struct options *options, long count, long *begun, struct totals *totals) {
    long again = 0;
    int left = 0;
    for (CURLMsg *message; (message = curl_multi_info_read(multi, &left));) {
        if (message->msg != CURLMSG_DONE) continue;
        CURL *easy = message->easy_handle;
        struct slot *slot = NULL;
        long status = 0, connects = 0;
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, &slot);
        curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
        curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, &connects);
        totals->connections += connects;
        if (message->data.result != CURLE_OK || status != 200) totals->errors += 1;
        totals->done += 1;
        curl_multi_remove_handle(multi, easy);
        if (*begun >= count) continue;
        *begun += 1;
        again += 1;
        begin(multi, slot, options);
    }
    return again;
}

static double seconds(struct timeval time) { return (double)time.tv_sec + (double)time.tv_usec / 1e6; }

static double cpu_time(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

static double wall_time(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static long resident_kib(void) {
    long size = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &size, &resident) != 2) resident = 0;
    if (file) fclose(file);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

// BenchmarkFloor poll|epoll get|download|upload URL COUNT IN-FLIGHT WARM-UP [ROOT [HOSTS]]
int main(int argc, char **argv) {
    if (argc < 7) fail("usage: poll|epoll get|download|upload URL COUNT IN-FLIGHT WARM-UP [ROOT]");
    int uses_epoll = strcmp(argv[1], "epoll") == 0;
    struct options options = {
        .workload = !strcmp(argv[2], "download") ? WORKLOAD_DOWNLOAD
                    : !strcmp(argv[2], "upload") ? WORKLOAD_UPLOAD
                                                 : WORKLOAD_GET,
        .url = argv[3],
        .count = atol(argv[4]),
        .in_flight = atol(argv[5]),
        .warm_up = atol(argv[6]),
        .root = argc > 7 && *argv[7] ? argv[7] : NULL,
        .hosts = argc > 8 ? atol(argv[8]) : 0,
    };
    if (options.count < 1 || options.in_flight < 1) fail("COUNT and IN-FLIGHT must be positive");
    if (options.hosts > 0) options.urls = parse_hosts(options.url, options.hosts);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    if (options.root) load_root(options.root);
    CURLM *multi = curl_multi_init();
    CURLSH *share = curl_share_init();
    struct slot *slots = calloc((size_t)options.in_flight, sizeof *slots);
    if (!multi || !share || !slots) fail("out of memory");
    curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
    curl_multi_setopt(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, 4096L);
    // As many as there may be hosts; by itself libcurl keeps four for each handle.
    if (options.hosts > 0) curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, 4096L);
    if (uses_epoll) prepare_epoll(multi);
    long base = resident_kib();
    for (long i = 0; i < options.in_flight; i++) prepare(&slots[i], &options, uses_epoll, share);

    drive *run = uses_epoll ? drive_with_epoll : drive_with_poll;
    struct totals warm = {0}, totals = {0};
    if (options.warm_up > 0) run(multi, slots, &options, options.warm_up, &warm);
    long resident = resident_kib();
    double cpu = cpu_time(), wall = wall_time();
    run(multi, slots, &options, options.count, &totals);
    cpu = cpu_time() - cpu;
    wall = wall_time() - wall;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"client\":\"floor-%s\",\"requests\":%ld,\"cpu_us\":%.3f,\"wall_s\":%.4f,\"errors\":%ld,"
           "\"peak_rss_kib\":%ld,\"base_rss_kib\":%ld,\"start_rss_kib\":%ld,\"end_rss_kib\":%ld,\"threads\":1,"
           "\"connections\":%lld}\n",
           argv[1], totals.done, cpu * 1e6 / (double)totals.done, wall, totals.errors + warm.errors, usage.ru_maxrss,
           base, resident, resident_kib(), totals.connections);
    return totals.errors + warm.errors > 0;
}
