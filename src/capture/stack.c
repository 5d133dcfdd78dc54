/* Walks, interns, tells.
 *
 * Invariant: the trace has the `site` event of an id before the id is handed out, and the `module`
 * events of its frames before that. Two stacks are one when the 64-bit hashes of their frames are:
 * by accident in one of 10^7 runs with a million stacks each. Naive model: a list of stacks. Cost:
 * a walk and one lookup; a stack that is new takes a lock. */
#include "capture/stack.h"

#include "capture/interned.h"
#include "capture/objects.h"
#include "capture/stack_python.h"
#include "capture/unwind.h"

#include "base/hash.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define DEPTH      64u /* of machine frames that are kept, and of Python frames */
#define TABLE_BITS 20

static struct {
    struct ssan_sink *_Atomic sink;
    pthread_mutex_t lock; /* for new stacks */
    struct interned known;
} stacks = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct stack {
    struct unwind_stack found;
    bool has_python; /* its frames were asked for */
    uint64_t frames[2 * DEPTH];
};

bool stack_open(struct ssan_sink *sink)
{
    if (!interned_open(&stacks.known, TABLE_BITS) || !stack_python_open(sink) ||
        !unwind_open(sink)) {
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
    stack_python_after_fork();
}

void stack_close(void)
{
    atomic_store_explicit(&stacks.sink, NULL, memory_order_release);
    interned_close(&stacks.known);
    stack_python_close();
    unwind_close();
}

static bool add_python(void *self, uint64_t frame)
{
    struct unwind_stack *stack = self;
    unwind_push(stack, frame);
    return stack->count < stack->room;
}

/* A Python program's frames stand in place of the interpreter's own; below those is nothing that
 * the program's author wrote. */
static enum unwind_step on_special(void *self, unsigned flags)
{
    struct stack *stack = self;
    if (stack->found.count == 0 && (flags & (OBJECT_OWN | OBJECT_DRIVER))) {
        return UNWIND_DROP;
    }
    if ((flags & OBJECT_PYTHON) && !stack->has_python) {
        stack->has_python = true;
        stack->found.goes_on = false;
        stack->found.room = stack->found.count + DEPTH;
        if (stack_python_walk(add_python, &stack->found) > 0) {
            return UNWIND_END;
        }
        stack->found.room = DEPTH;
    }
    return UNWIND_KEEP;
}

static void tell_lost(struct ssan_sink *sink)
{
    struct ssan_event event = {.kind = SSAN_EV_lost, .lost = {SSAN_loss_STACKS, 0, 1}};
    ssan_put(sink, &event);
}

/* The id of frames that are not known, or were not a moment ago. */
static uint32_t intern(struct ssan_sink *sink, uint64_t hash, const uint64_t *frames,
                       uint32_t count)
{
    uint32_t id;
    pthread_mutex_lock(&stacks.lock);
    id = interned_find(&stacks.known, hash);
    if (!id && (id = interned_next(&stacks.known)) != 0) {
        struct ssan_event event = {.kind = SSAN_EV_site};
        event.site = (struct ssan_ev_site){id, {frames, count}};
        ssan_put(sink, &event);
        interned_add(&stacks.known, hash);
    }
    pthread_mutex_unlock(&stacks.lock);
    if (!id) {
        tell_lost(sink);
    }
    return id;
}

/* Makes frames of the trace out of those of the walk. */
static void subtract_bases(struct unwind_stack *stack)
{
    for (uint32_t i = 0; i < stack->count; i++) {
        uint32_t module = UNWIND_MODULE(stack->frames[i]);
        if (module <= OBJECTS_MAX) {
            stack->frames[i] = (uint64_t)module << 48 |
                               ((stack->frames[i] - object_base(module)) & UNWIND_ADDRESS);
        }
    }
}

__attribute__((noinline)) uint32_t stack_site(void)
{
    struct ssan_sink *sink = atomic_load_explicit(&stacks.sink, memory_order_acquire);
    struct unwind_registers registers;
    struct stack stack;
    int error = errno;
    uint64_t hash;
    uint32_t id = 0;
    if (!sink) {
        return 0;
    }
    stack.found = (struct unwind_stack){
        .frames = stack.frames, .room = DEPTH, .goes_on = stack_python_is_known()};
    stack.has_python = false;
    memset(&registers, 0, sizeof registers);
    unwind_here(&registers);
    unwind_walk(&registers, &stack.found, on_special, &stack);
    if (stack.found.count > 0) {
        hash = hash_mix(stack.found.hash, stack.found.count);
        id = interned_find(&stacks.known, hash);
        if (!id) {
            subtract_bases(&stack.found);
            id = intern(sink, hash, stack.frames, stack.found.count);
        }
    }
    errno = error;
    return id;
}

__attribute__((noinline)) uint32_t stack_addresses(uint64_t *addresses, uint32_t most)
{
    struct unwind_registers registers;
    struct stack stack;
    int error = errno;
    if (!atomic_load_explicit(&stacks.sink, memory_order_acquire)) {
        return 0;
    }
    stack.found =
        (struct unwind_stack){.frames = stack.frames, .room = most < DEPTH ? most : DEPTH};
    stack.has_python = true; /* machine frames alone */
    memset(&registers, 0, sizeof registers);
    unwind_here(&registers);
    unwind_walk(&registers, &stack.found, on_special, &stack);
    for (uint32_t i = 0; i < stack.found.count; i++) {
        addresses[i] = stack.frames[i] & UNWIND_ADDRESS;
    }
    errno = error;
    return stack.found.count;
}

uint32_t stack_intern(const uint64_t *frames, uint32_t count)
{
    struct ssan_sink *sink = atomic_load_explicit(&stacks.sink, memory_order_acquire);
    uint64_t hash = 1;
    uint32_t id;
    if (!sink || count == 0) {
        return 0;
    }
    count = count < DEPTH ? count : DEPTH;
    for (uint32_t i = 0; i < count; i++) {
        hash = hash_mix(hash, frames[i]);
    }
    id = interned_find(&stacks.known, hash);
    return id ? id : intern(sink, hash, frames, count);
}
