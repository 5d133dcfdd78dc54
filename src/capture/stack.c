/* Walks, interns, tells.
 *
 * Invariant: the trace has the `site` event of an id before the id is handed out, and the `module`
 * events of its frames before that. Two stacks are one when the 64-bit hashes of their frames are:
 * by accident in one of 10^8 runs with a million stacks each. Naive model: a list of stacks. Cost:
 * a walk and one lookup; a stack that is new takes a lock. */
#include "capture/stack.h"

#include "capture/objects.h"
#include "capture/unwind.h"

#include "base/hash.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

#define DEPTH 64u
#define SLOTS (UINT64_C(1) << 20)
#define MOST  (SLOTS / 4 * 3)

/* An id and the hash of its frames, read one by one: `check` is their exclusive or. */
struct slot {
    _Atomic uint64_t check, id;
};

static struct {
    struct ssan_sink *_Atomic sink;
    pthread_mutex_t lock; /* for new stacks */
    struct slot *slots;
    uint32_t count;
} stacks = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct stack {
    uint64_t hash;
    uint32_t count;
    uint64_t frames[DEPTH];
};

bool stack_open(struct ssan_sink *sink)
{
    if (!stacks.slots) {
        void *memory = mmap(NULL, SLOTS * sizeof(struct slot), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) {
            return false;
        }
        stacks.slots = memory;
    }
    if (!unwind_open(sink)) {
        return false;
    }
    atomic_store_explicit(&stacks.sink, sink, memory_order_release);
    return true;
}

void stack_detach(void)
{
    atomic_store_explicit(&stacks.sink, NULL, memory_order_release);
    pthread_mutex_init(&stacks.lock, NULL);
    unwind_after_fork();
}

void stack_close(void)
{
    atomic_store_explicit(&stacks.sink, NULL, memory_order_release);
    if (stacks.slots) {
        munmap(stacks.slots, SLOTS * sizeof(struct slot));
        stacks.slots = NULL;
    }
    stacks.count = 0;
    unwind_close();
}

static bool add_frame(void *self, uint64_t frame)
{
    struct stack *stack = self;
    unsigned flags = object_flags(UNWIND_MODULE(frame));
    if (stack->count == 0 && (flags & (OBJECT_OWN | OBJECT_DRIVER))) {
        return true;
    }
    stack->frames[stack->count++] = frame;
    stack->hash = hash_mix(stack->hash, frame);
    return stack->count < DEPTH;
}

/* The slot of a hash, or the empty one where it would be. */
static struct slot *find(uint64_t hash, uint32_t *id)
{
    for (uint64_t at = hash & (SLOTS - 1);; at = (at + 1) & (SLOTS - 1)) {
        struct slot *slot = &stacks.slots[at];
        uint64_t known = atomic_load_explicit(&slot->id, memory_order_acquire);
        *id = (uint32_t)known;
        if (known == 0 ||
            (atomic_load_explicit(&slot->check, memory_order_relaxed) ^ known) == hash) {
            return slot;
        }
    }
}

static void tell_lost(struct ssan_sink *sink)
{
    struct ssan_event event = {.kind = SSAN_EV_lost, .lost = {SSAN_loss_STACKS, 0, 1}};
    ssan_put(sink, &event);
}

/* The id of a stack that is not known, or was not a moment ago. */
static uint32_t intern(struct ssan_sink *sink, const struct stack *stack)
{
    struct slot *slot;
    uint32_t id;
    pthread_mutex_lock(&stacks.lock);
    slot = find(stack->hash, &id);
    if (!id && stacks.count < MOST) {
        struct ssan_event event = {.kind = SSAN_EV_site};
        id = stacks.count + 1;
        event.site = (struct ssan_ev_site){id, {stack->frames, stack->count}};
        ssan_put(sink, &event);
        stacks.count = id;
        atomic_store_explicit(&slot->check, stack->hash ^ id, memory_order_relaxed);
        atomic_store_explicit(&slot->id, id, memory_order_release);
    }
    pthread_mutex_unlock(&stacks.lock);
    if (!id) {
        tell_lost(sink);
    }
    return id;
}

__attribute__((noinline)) uint32_t stack_site(void)
{
    struct ssan_sink *sink = atomic_load_explicit(&stacks.sink, memory_order_acquire);
    struct unwind_registers registers = {0};
    struct stack stack;
    int error = errno;
    uint32_t id = 0;
    if (!sink) {
        return 0;
    }
    stack.count = 0;
    stack.hash = 0;
    unwind_here(&registers);
    unwind_walk(&registers, add_frame, &stack);
    if (stack.count > 0) {
        (void)find(stack.hash, &id);
        id = id ? id : intern(sink, &stack);
    }
    errno = error;
    return id;
}

uint32_t stack_intern(const uint64_t *frames, uint32_t count)
{
    struct ssan_sink *sink = atomic_load_explicit(&stacks.sink, memory_order_acquire);
    struct stack stack = {.hash = 1};
    uint32_t id = 0;
    if (!sink || count == 0) {
        return 0;
    }
    for (; stack.count < count && stack.count < DEPTH; stack.count++) {
        stack.frames[stack.count] = frames[stack.count];
        stack.hash = hash_mix(stack.hash, frames[stack.count]);
    }
    (void)find(stack.hash, &id);
    return id ? id : intern(sink, &stack);
}
