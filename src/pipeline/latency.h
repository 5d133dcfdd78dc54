/* Latencies in a fixed table: exact up to 15 ns, above to 1/16 of the value. 8 KiB, one increment a
 * value. */
#ifndef SSAN_PIPELINE_LATENCY_H
#define SSAN_PIPELINE_LATENCY_H

#pragma GCC visibility push(default)
#include "streamsan/pipeline.h"
#pragma GCC visibility pop

#define LATENCY_CELLS (61 * 16)

struct latency {
    uint64_t counts[LATENCY_CELLS];
    uint64_t all, max_ns;
};

void latency_add(struct latency *latency, uint64_t ns);
void latency_read(const struct latency *latency, struct ssan_pipe_latency *out);

#endif
