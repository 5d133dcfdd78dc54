/* Ends of launches by marks in their streams and by joins of the host.
 *
 * Invariant: a launch counts as ended only when everything before a point of its stream behind it
 * has: the value of a mark is fixed before the mark is put there, a join covers launches that there
 * were before the wait began, and neither one that another thread has begun to launch only. A patch
 * at the end of blocks would tell the same for a tenth of the speed of a kernel. Naive model: an
 * event behind each launch. Cost: one small copy for each stream and look of the drain thread, none
 * where the program waits often enough by itself. */
#include "capture/observe_streams.h"

uint32_t streams_find(struct pool *pool, struct sanitizer_stream *handle, bool make)
{
    uint32_t unused = POOL_STREAMS;
    for (uint32_t i = 0; i < pool->stream_count; i++) {
        struct pool_stream *stream = &pool->streams[i];
        if (stream->handle == handle && !stream->has_ended) { /* else of one before it */
            return i;
        }
        if (stream->next <= stream->done && stream->marked <= stream->done) {
            unused = i;
        }
    }
    if (!make) {
        return POOL_STREAMS;
    }
    if (pool->stream_count < POOL_STREAMS) {
        unused = pool->stream_count++;
    }
    if (unused < POOL_STREAMS) {
        pool->streams[unused] = (struct pool_stream){.handle = handle};
    }
    return unused;
}

void streams_look(struct pool *pool)
{
    for (uint32_t i = 0; i < pool->stream_count; i++) {
        struct pool_stream *stream = &pool->streams[i];
        if (pool->marks_copy->done[i] > stream->done) {
            stream->done = pool->marks_copy->done[i];
        }
        stream->wants_mark = stream->next > stream->done && stream->marked <= stream->done;
    }
}

bool streams_have_ended(const struct pool *pool, const struct pool_launch *launch)
{
    return launch->number < pool->streams[launch->stream].done;
}

/* Lock held. */
static uint64_t taken_below(const struct pool *pool)
{
    uint64_t below = pool->launch_count;
    for (uint32_t i = 0; i < pool->begun_count; i++) {
        below = pool->begun[i] < below ? pool->begun[i] : below;
    }
    return below;
}

uint64_t pool_count(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    uint64_t count = taken_below(pool);
    pthread_mutex_unlock(&pool->lock);
    return count;
}

void pool_joined(struct pool *pool, struct sanitizer_stream *handle, uint64_t below)
{
    pthread_mutex_lock(&pool->lock);
    for (uint32_t i = 0; i < pool->stream_count; i++) {
        struct pool_stream *stream = &pool->streams[i];
        if (!handle || (stream->handle == handle && !stream->has_ended)) {
            uint64_t done = stream->next < below ? stream->next : below;
            stream->done = done > stream->done ? done : stream->done;
        }
    }
    pthread_mutex_unlock(&pool->lock);
}

/* Puts a mark behind the launches that there are; `which` of the two words of its value. A value
 * must not change before the copy has read it. */
static void put_mark(struct pool *pool, uint32_t index, unsigned which)
{
    struct pool_stream *stream = &pool->streams[index];
    pthread_mutex_lock(&pool->lock);
    struct sanitizer_stream *handle = stream->handle;
    uint64_t below = taken_below(pool);
    uint64_t value = stream->next < below ? stream->next : below;
    bool is_needed = value > stream->done && !stream->has_ended &&
                     (which == 1 ? stream->marked < value : stream->marked <= stream->done);
    if (is_needed) {
        stream->wants_mark = false;
        stream->has_ended = which == 1;
        stream->marked = value;
        pool->mark_values[index][which] = value;
    }
    pthread_mutex_unlock(&pool->lock);
    if (is_needed && pool->api->copy_to_device_async(pool_at(pool->marks + index * sizeof value),
                                                     &pool->mark_values[index][which], sizeof value,
                                                     handle) != SANITIZER_OK) {
        pthread_mutex_lock(&pool->lock);
        stream->marked = stream->done;
        stream->has_ended = false;
        pthread_mutex_unlock(&pool->lock);
    }
}

void pool_mark(struct pool *pool, uint32_t stream)
{
    if (stream < POOL_STREAMS) {
        put_mark(pool, stream, 0);
    }
}

static uint32_t count_streams(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    uint32_t count = pool->stream_count;
    pthread_mutex_unlock(&pool->lock);
    return count;
}

void pool_mark_all(struct pool *pool)
{
    for (uint32_t i = 0, count = count_streams(pool); i < count; i++) {
        put_mark(pool, i, 0);
    }
}

void pool_end_stream(struct pool *pool, struct sanitizer_stream *handle)
{
    pthread_mutex_lock(&pool->lock);
    uint32_t index = streams_find(pool, handle, false);
    pthread_mutex_unlock(&pool->lock);
    if (index < POOL_STREAMS) {
        put_mark(pool, index, 1);
    }
}

void pool_end_streams(struct pool *pool)
{
    for (uint32_t i = 0, count = count_streams(pool); i < count; i++) {
        put_mark(pool, i, 1);
    }
}
