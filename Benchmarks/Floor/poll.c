#include "floor.h"

void drive_with_poll(CURLM *multi, struct slot *slots, const struct options *options, long count,
                     struct totals *totals) {
    long begun = 0;
    for (; begun < count && begun < options->in_flight; begun++) begin(multi, &slots[begun], options);
    while (totals->done < count) {
        int running = 0;
        curl_multi_perform(multi, &running);
        // Requests that were begun just now want to be performed before anybody waits.
        if (harvest(multi, options, count, &begun, totals) > 0 || totals->done >= count) continue;
        curl_multi_poll(multi, NULL, 0, 1000, NULL);
    }
}
