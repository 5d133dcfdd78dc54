/* What happened since create, in figures. */
#include "pipeline/parts.h"

#include <string.h>
#include <unistd.h>

static uint64_t main_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : 0;
}

static double ratio(double of, double by)
{
    return by > 0 ? of / by : 0;
}

/* Rates and shares, from the counts. */
static void derive(struct ssan_pipe_stats *s, double in_flight_ns)
{
    double busy_s = (double)s->busy_ns * 1e-9;
    s->batches_per_s = ratio((double)s->published, busy_s);
    s->bytes_per_s = ratio((double)(s->input_bytes + s->output_bytes), busy_s);
    s->in_flight = ratio(in_flight_ns, (double)s->busy_ns);
    s->overlap = ratio((double)(s->upload_ns + s->compute_ns + s->copy_ns), (double)s->busy_ns);
    s->machine_bytes = main_memory();
    s->pinned_share = ratio((double)s->pinned_bytes, (double)s->machine_bytes);
    s->pinned_advice = s->pinned_share > 0.25;
}

enum ssan_pipe_status ssan_pipe_stats_get(struct ssan_pipe *pipe, struct ssan_pipe_stats *stats)
{
    struct ssan_pipe_stats got;
    double in_flight_ns;
    size_t size = stats->size;
    if (size < sizeof size || size > sizeof got) {
        return SSAN_PIPE_INVALID;
    }
    pthread_mutex_lock(&pipe->lock);
    got = pipe->stats;
    in_flight_ns = (double)pipe->in_flight_ns;
    if (pipe->in_flight) {
        got.busy_ns += pipe_now_ns() - pipe->busy_since_ns;
    }
    latency_read(&pipe->device_latency, &got.device);
    latency_read(&pipe->delivery_latency, &got.delivery);
    pthread_mutex_unlock(&pipe->lock);
    derive(&got, in_flight_ns);
    memcpy(stats, &got, size);
    stats->size = size;
    return SSAN_PIPE_OK;
}
