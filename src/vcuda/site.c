/* Stacks by frame pointers, interned by their frames.
 *
 * Invariant: the trace has the `site` event of an id before the id is handed out, and the `module`
 * events of its frames before that. A walk reads only words between the frame it starts from and
 * the end of the thread's stack, and stops at the first return address that lies in no loaded
 * object. A capture costs one hash and, for a known stack, no memory. Its lock is a leaf of the
 * lock order. */
#include "vcuda/site.h"

#include "base/map.h"
#include "base/vec.h"
#include "vcuda/emit.h"
#include "vcuda/module.h"
#include "vcuda/threads.h"

#include <pthread.h>
#include <string.h>

#define DEPTH 48
/* A frame: module << 48 | offset. */
#define FRAME_OFFSET ((UINT64_C(1) << 48) - 1)

struct entry {
    uint64_t *frames; /* owned */
    uint32_t count;
    uint32_t line;
    uint32_t next; /* of the same hash; 0: none */
};

static struct {
    pthread_mutex_t lock;
    struct map by_hash; /* to an id */
    struct {
        struct entry *items; /* id - 1 */
        size_t count, room;
    } entries;
} sites = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 29);
}

/* The id of these frames (and line), or 0; *fresh when it was made now. Lock held. */
static uint32_t intern(uint64_t hash, const uint64_t *frames, uint32_t count, uint32_t line,
                       bool *fresh)
{
    uint64_t *known = map_find(&sites.by_hash, hash);
    struct entry made = {.count = count, .line = line};
    uint32_t id;
    *fresh = false;
    for (id = known ? (uint32_t)*known : 0; id; id = sites.entries.items[id - 1].next) {
        const struct entry *entry = &sites.entries.items[id - 1];
        if (entry->count == count && entry->line == line &&
            memcmp(entry->frames, frames, count * sizeof *frames) == 0) {
            return id;
        }
    }
    made.next = known ? (uint32_t)*known : 0;
    made.frames = mem_alloc(count * sizeof *frames);
    if (!made.frames) {
        return 0;
    }
    memcpy(made.frames, frames, count * sizeof *frames);
    /* One more than is needed: a signal handler takes it. */
    if (!VEC_RESERVE(&sites.entries, sites.entries.count + 2) ||
        !map_set(&sites.by_hash, hash, sites.entries.count + 1)) {
        mem_free(made.frames);
        return 0;
    }
    sites.entries.items[sites.entries.count++] = made;
    *fresh = true;
    return (uint32_t)sites.entries.count;
}

static uint32_t intern_stack(const uint64_t *frames, uint32_t count)
{
    struct ssan_event event = {.kind = SSAN_EV_site};
    uint64_t hash = count;
    uint32_t id;
    bool fresh;
    for (uint32_t i = 0; i < count; i++) {
        hash = mix(hash, frames[i]);
    }
    id = intern(hash, frames, count, 0, &fresh);
    if (fresh) {
        event.site = (struct ssan_ev_site){id, {frames, count}};
        emit_put(&event);
    }
    return id;
}

/* Appends the frame of a return address; false when it lies in no object or there is no room. Lock
 * held. */
static bool add_frame(uint64_t *frames, uint32_t *count, uint64_t address, bool may_list)
{
    uint64_t offset;
    uint32_t module = module_find(address - 1, may_list, &offset);
    if (!module || *count == DEPTH) {
        return false;
    }
    frames[(*count)++] = (uint64_t)module << 48 | (offset + 1);
    return true;
}

static void walk(uint64_t *frames, uint32_t *count, uint64_t frame, bool may_list)
{
    uint64_t end = threads_stack_end();
    while (frame % 8 == 0 && frame < end && end - frame >= 16) {
        const uint64_t *words = (const uint64_t *)(uintptr_t)frame;
        if (!add_frame(frames, count, words[1], may_list) || words[0] <= frame) {
            return;
        }
        frame = words[0];
    }
}

uint32_t site_capture(const void *frame)
{
    uint64_t frames[DEPTH], start = (uint64_t)(uintptr_t)frame;
    uint32_t count = 0, id;
    if (!emit_is_on()) {
        return 0;
    }
    pthread_mutex_lock(&sites.lock);
    /* Our own frame may lie on a stack that the thread made itself; its caller is always readable.
     */
    if (add_frame(frames, &count, ((const uint64_t *)frame)[1], true) &&
        ((const uint64_t *)frame)[0] > start) {
        walk(frames, &count, ((const uint64_t *)frame)[0], true);
    }
    id = count ? intern_stack(frames, count) : 0;
    pthread_mutex_unlock(&sites.lock);
    if (!id) {
        emit_lost(SSAN_loss_STACKS, 0);
    }
    return id;
}

uint32_t site_capture_at(uint64_t counter, uint64_t frame_pointer)
{
    uint64_t frames[DEPTH];
    uint32_t count = 0, id = 0;
    if (!emit_is_on() || pthread_mutex_trylock(&sites.lock) != 0) {
        return 0;
    }
    if (sites.entries.count < sites.entries.room && add_frame(frames, &count, counter + 1, false)) {
        struct ssan_event event = {.kind = SSAN_EV_site};
        walk(frames, &count, frame_pointer, false);
        sites.entries.items[sites.entries.count++] =
            (struct entry){0}; /* in no chain: found never */
        id = (uint32_t)sites.entries.count;
        event.site = (struct ssan_ev_site){id, {frames, count}};
        emit_put(&event);
    }
    pthread_mutex_unlock(&sites.lock);
    return id;
}

bool site_passes(uint32_t site, const char *module, uint64_t begin, uint64_t end)
{
    bool found = false;
    pthread_mutex_lock(&sites.lock);
    if (site > 0 && site <= sites.entries.count) {
        const struct entry *entry = &sites.entries.items[site - 1];
        for (uint32_t i = 0; !found && i < entry->count; i++) {
            /* A frame is a return address: the call ends just before it. */
            uint64_t at = (entry->frames[i] & FRAME_OFFSET) - 1;
            found = at >= begin && at < end &&
                    strcmp(module_name((uint32_t)(entry->frames[i] >> 48)), module) == 0;
        }
    }
    pthread_mutex_unlock(&sites.lock);
    return found;
}

uint32_t site_line(const struct ptx_line *line)
{
    struct ssan_event event = {.kind = SSAN_EV_site};
    uint64_t key[2], hash = line->line;
    uint32_t id;
    bool fresh;
    if (!emit_is_on() || !line->file) {
        return 0;
    }
    /* The module owns its strings and lives as long as the process, so their addresses name them.
     */
    key[0] = (uint64_t)(uintptr_t)line->file;
    key[1] = (uint64_t)(uintptr_t)line->function;
    hash = mix(mix(hash, key[0]), key[1]);
    pthread_mutex_lock(&sites.lock);
    id = intern(hash, key, 2, line->line + 1, &fresh);
    if (fresh) {
        event.site = (struct ssan_ev_site){.site = id};
        emit_put(&event);
        event.kind = SSAN_EV_line;
        event.line =
            (struct ssan_ev_line){.site = id,
                                  .file = ssan_str(line->file),
                                  .line = line->line,
                                  .function = ssan_str(line->function ? line->function : "")};
        emit_put(&event);
    }
    pthread_mutex_unlock(&sites.lock);
    return id;
}

void site_forget(void)
{
    for (size_t i = 0; i < sites.entries.count; i++) {
        mem_free(sites.entries.items[i].frames);
    }
    VEC_FREE(&sites.entries);
    map_finish(&sites.by_hash);
    memset(&sites.by_hash, 0, sizeof sites.by_hash);
    pthread_mutex_init(&sites.lock, NULL);
    module_forget();
}
