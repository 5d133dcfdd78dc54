/* Latencies in a fixed table.
 *
 * 1. A value below 16 has a cell of its own. 2. Above, the cell is (position of the top bit, next 4
 * bits): 16 cells a power of two, 60 powers (4 to 63) behind the first row, 61 rows in all. 3. What
 * is read is the cell's upper end, never above the greatest value. */
#include "pipeline/latency.h"

static unsigned cell_of(uint64_t ns)
{
    if (ns < 16) {
        return (unsigned)ns;
    }
    unsigned top = 63 - (unsigned)__builtin_clzll(ns);
    return (top - 3) * 16 + (unsigned)((ns >> (top - 4)) & 15);
}

static uint64_t upper_end(unsigned cell)
{
    if (cell < 16) {
        return cell;
    }
    unsigned top = cell / 16 + 3;
    return ((uint64_t)(16 + cell % 16) << (top - 4)) + (((uint64_t)1 << (top - 4)) - 1);
}

void latency_add(struct latency *latency, uint64_t ns)
{
    latency->counts[cell_of(ns)]++;
    latency->all++;
    if (ns > latency->max_ns) {
        latency->max_ns = ns;
    }
}

static uint64_t percentile(const struct latency *latency, unsigned percent)
{
    uint64_t wanted = (latency->all * percent + 99) / 100, seen = 0;
    for (unsigned i = 0; i < LATENCY_CELLS; i++) {
        seen += latency->counts[i];
        if (seen >= wanted && seen) {
            uint64_t end = upper_end(i);
            return end < latency->max_ns ? end : latency->max_ns;
        }
    }
    return 0;
}

void latency_read(const struct latency *latency, struct ssan_pipe_latency *out)
{
    out->p50_ns = percentile(latency, 50);
    out->p90_ns = percentile(latency, 90);
    out->p99_ns = percentile(latency, 99);
    out->max_ns = latency->max_ns;
}
