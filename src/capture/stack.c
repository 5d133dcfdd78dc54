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

#define DEPTH      64u /* of machine frames that are kept, and of Python frames */
#define TABLE_BITS 20

static struct {
    struct ssan_sink *_Atomic sink;
    pthread_mutex_t lock; /* for new stacks */
    struct interned known;
} stacks = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct stack {
    uint64_t hash;
    uint32_t count, room;
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

/* Appends a frame where there is room. */
static bool append(void *self, uint64_t frame)
{
    struct stack *stack = self;
    if (stack->count < stack->room) {
        stack->frames[stack->count++] = frame;
        stack->hash = hash_mix(stack->hash, frame);
    }
    return stack->count < stack->room;
}

/* A Python program's frames stand in place of the interpreter's own; below those is nothing that
 * the program's author wrote. */
static bool add_python(struct stack *stack)
{
    stack->has_python = true;
    stack->room = stack->count + DEPTH;
    if (stack_python_walk(append, stack) > 0) {
        return true;
    }
    stack->room = DEPTH;
    return false;
}

static bool add_frame(void *self, uint64_t frame)
{
    struct stack *stack = self;
    unsigned flags = object_flags(UNWIND_MODULE(frame));
    if (stack->count == 0 && (flags & (OBJECT_OWN | OBJECT_DRIVER))) {
        return true;
    }
    if ((flags & OBJECT_PYTHON) && !stack->has_python && add_python(stack)) {
        return false;
    }
    /* Where there is an interpreter its frames are looked for however deep the libraries' are. */
    return append(stack, frame) || (stack_python_is_known() && !stack->has_python);
}

static void tell_lost(struct ssan_sink *sink)
{
    struct ssan_event event = {.kind = SSAN_EV_lost, .lost = {SSAN_loss_STACKS, 0, 1}};
    ssan_put(sink, &event);
}

/* The id of a stack that is not known, or was not a moment ago. */
static uint32_t intern(struct ssan_sink *sink, const struct stack *stack)
{
    uint32_t id;
    pthread_mutex_lock(&stacks.lock);
    id = interned_find(&stacks.known, stack->hash);
    if (!id && (id = interned_next(&stacks.known)) != 0) {
        struct ssan_event event = {.kind = SSAN_EV_site};
        event.site = (struct ssan_ev_site){id, {stack->frames, stack->count}};
        ssan_put(sink, &event);
        interned_add(&stacks.known, stack->hash);
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
    stack.room = DEPTH;
    stack.has_python = false;
    stack.hash = 0;
    unwind_here(&registers);
    unwind_walk(&registers, add_frame, &stack);
    if (stack.count > 0) {
        id = interned_find(&stacks.known, stack.hash);
        id = id ? id : intern(sink, &stack);
    }
    errno = error;
    return id;
}

uint32_t stack_intern(const uint64_t *frames, uint32_t count)
{
    struct ssan_sink *sink = atomic_load_explicit(&stacks.sink, memory_order_acquire);
    struct stack stack = {.hash = 1};
    uint32_t id;
    if (!sink || count == 0) {
        return 0;
    }
    for (; stack.count < count && stack.count < DEPTH; stack.count++) {
        stack.frames[stack.count] = frames[stack.count];
        stack.hash = hash_mix(stack.hash, frames[stack.count]);
    }
    id = interned_find(&stacks.known, stack.hash);
    return id ? id : intern(sink, &stack);
}
