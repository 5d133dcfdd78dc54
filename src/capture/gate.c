/* The host's side of gates.
 *
 * Memory of a context's gates is made at its first module, when nothing of it can run yet, since
 * later calls that allocate or copy might wait for work. Invariant: a launch has a gate as its user
 * data only if it is the item that the gate names; `op` of a gate is set once. Naive model: a list
 * of gates that each item is compared with. No allocation behind gate_start. */
#include "capture/gate.h"

#include "capture/gate_abi.h"
#include "capture/patch_abi.h"
#include "capture/patching.h"
#include "trace/gate_words.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define MOST_CONTEXTS 16
#define NS_PER_MS     UINT64_C(1000000)

static_assert(GATE_TABLE == GATE_MOST_HELD, "one number in two headers");
static_assert(offsetof(struct patch_launch, gate) == GATE_OFFSET, "user data of either kind");

struct gate {
    struct gate_words words;
    uint32_t held_seen, until_seen; /* items of the two streams so far */
    uint64_t op, until;             /* 0: not submitted yet */
    bool no_kernel, no_memory;      /* why `op` is not held */
    struct gate_block *block;       /* device: of the context where `op` was launched */
    uint64_t address;               /* the same as it is put into user data; never changes */
    struct gate_state *state;
    struct gate_state last; /* what stood in `state` when its context ended */
};

/* What the device and asynchronous copies read, which may do so at any time later: page-locked. */
struct gate_memory {
    struct gate_state states[GATE_MOST];
    struct gate_block blocks[GATE_MOST]; /* as they begin */
};

/* Gates as a context has them, by number. */
struct place {
    CUcontext context;
    struct gate_block *blocks; /* device */
    struct gate_state *states; /* page-locked */
};

static struct {
    atomic_bool on; /* false: nothing to do */
    bool serializes, alone;
    const struct sanitizer_api *api;
    char patches[4096];
    struct gate gates[GATE_MOST];
    size_t count;
    struct place places[MOST_CONTEXTS];
    size_t place_count;
    _Atomic uint32_t failed; /* a result of the sanitizer library, 0: none */
    const char *_Atomic failed_at;
} self;

static uint32_t opened = 1; /* what copies write into `done` of a gate: never changes */

/* Of the call that this thread is in. */
static _Thread_local struct {
    struct gate_due due;
    struct gate *gate; /* of the last launch, or NULL */
    bool sets;         /* that launch gets user data from here */
} call;

bool gate_start(const struct observe_plan *plan, const struct sanitizer_api *api,
                const char *patches, bool alone)
{
    size_t i;
    memset(&self, 0, sizeof self);
    self.api = api;
    self.alone = alone;
    snprintf(self.patches, sizeof self.patches, "%s", patches);
    for (i = 0; i < plan->gates.count; i++) {
        const char *words = plan->gates.items[i];
        if (strcmp(words, GATE_SERIALIZE) == 0) {
            self.serializes = true;
        } else if (self.count < GATE_MOST &&
                   gate_words_read(&self.gates[self.count].words, words, NULL) == SSAN_OK) {
            self.count++;
        }
    }
    atomic_store(&self.on, self.count > 0 || self.serializes);
    return atomic_load(&self.on);
}

/* -- memory and patches -- */

/* Remembers the first thing that went wrong. */
static bool works(uint32_t result, const char *what)
{
    uint32_t none = 0;
    if (result != SANITIZER_OK && atomic_compare_exchange_strong(&self.failed, &none, result)) {
        atomic_store(&self.failed_at, what);
    }
    return result == SANITIZER_OK;
}

static struct place *find_place(CUcontext context)
{
    size_t count = __atomic_load_n(&self.place_count, __ATOMIC_ACQUIRE);
    for (size_t i = 0; i < count && i < MOST_CONTEXTS; i++) {
        if (__atomic_load_n(&self.places[i].context, __ATOMIC_ACQUIRE) == context) {
            return &self.places[i];
        }
    }
    return NULL;
}

static void fill_blocks(struct gate_block *blocks, uint64_t device, const struct gate_state *states)
{
    memset(blocks, 0, self.count * sizeof *blocks);
    for (size_t i = 0; i < self.count; i++) {
        const struct gate_words *words = &self.gates[i].words;
        blocks[i].self = device + i * sizeof *blocks;
        blocks[i].limit_ns = words->limit_ms * NS_PER_MS;
        blocks[i].grace_ns = words->grace_ms * NS_PER_MS;
        blocks[i].most = words->blocks;
        blocks[i].by_host = words->by_host;
        blocks[i].state = (uint64_t)(uintptr_t)&states[i];
    }
}

static void make_memory(struct place *place, CUcontext context)
{
    const struct sanitizer_api *api = self.api;
    struct gate_memory *memory;
    void *device = NULL, *host = NULL;
    size_t size = self.count * sizeof *memory->blocks;
    if (!works(api->alloc_device(context, &device, size), "memory for gates") ||
        !works(api->alloc_host(context, &host, sizeof *memory), "memory for gates")) {
        return;
    }
    memory = host;
    memset(memory, 0, sizeof *memory);
    fill_blocks(memory->blocks, (uint64_t)(uintptr_t)device, memory->states);
    if (works(api->copy_to_device_async(device, memory->blocks, size, NULL), "the copy of gates") &&
        works(api->stream_synchronize(NULL), "the copy of gates")) {
        place->states = memory->states;
        place->blocks = device;
    }
}

/* The place of a context; made, with its patches, when it has none yet. NULL: no room. */
static struct place *intern_place(CUcontext context)
{
    struct place *place = find_place(context);
    size_t number;
    if (place || __atomic_load_n(&self.place_count, __ATOMIC_RELAXED) >= MOST_CONTEXTS ||
        (number = __atomic_fetch_add(&self.place_count, 1, __ATOMIC_ACQ_REL)) >= MOST_CONTEXTS) {
        return place;
    }
    place = &self.places[number];
    if (works(patching_add_file(self.api, self.patches, context), "loading of " GATE_PATCHES)) {
        make_memory(place, context);
    }
    __atomic_store_n(&place->context, context, __ATOMIC_RELEASE); /* found from here on */
    return place;
}

void gate_module(const struct sanitizer_module_data *module)
{
    static const struct patching_place begin = {SANITIZER_AT_BLOCK_ENTER, GATE_FUNCTION};
    struct place *place;
    uint32_t result;
    if (!atomic_load(&self.on) || self.count == 0) {
        return;
    }
    place = intern_place(module->context);
    if (!place || !place->blocks) {
        return;
    }
    patching_choose(self.api, module->module, &begin, &result, 1);
    if (works(result, "looking up this build's gate in " GATE_PATCHES " (make capture)") &&
        self.alone) {
        (void)works(patching_apply(self.api, module->module), "patching");
    }
}

void gate_context_end(CUcontext context)
{
    struct place *place = atomic_load(&self.on) ? find_place(context) : NULL;
    for (size_t i = 0; place && place->states && i < self.count; i++) {
        struct gate *gate = &self.gates[i];
        if (gate->state == &place->states[i]) {
            gate->last = *gate->state;
            gate->state = &gate->last;
            __atomic_store_n(&gate->block, NULL, __ATOMIC_RELEASE);
        }
    }
    if (place) {
        *place = (struct place){0};
    }
}

/* -- items -- */

/* Whether the launch is held by the gate. */
static bool hold(struct gate *gate, uint64_t op, const struct sanitizer_launch_data *launch)
{
    struct place *place = launch ? find_place(launch->context) : NULL;
    size_t number = (size_t)(gate - self.gates);
    gate->op = op;
    gate->no_kernel = !launch;
    gate->no_memory = launch && !(place && place->blocks);
    if (gate->no_kernel || gate->no_memory) {
        return false;
    }
    gate->state = &place->states[number];
    gate->address = (uint64_t)(uintptr_t)&place->blocks[number];
    __atomic_store_n(&gate->block, &place->blocks[number], __ATOMIC_RELEASE);
    return true;
}

void gate_item(uint32_t stream, uint64_t op, struct sanitizer_stream *handle,
               const struct sanitizer_launch_data *launch)
{
    if (!atomic_load(&self.on)) {
        return;
    }
    call.gate = NULL;
    for (size_t i = 0; i < self.count; i++) {
        struct gate *gate = &self.gates[i];
        if (stream == gate->words.held.stream && ++gate->held_seen == gate->words.held.seq &&
            hold(gate, op, launch)) {
            call.gate = gate;
        }
        if (!gate->words.by_host && stream == gate->words.until.stream &&
            ++gate->until_seen == gate->words.until.seq) {
            gate->until = op;
            call.due.opens |= handle ? 1u << i : 0;
        }
    }
    if (handle) {
        call.due.handle = handle;
        call.due.waits = self.serializes;
    }
    call.sets = launch && self.count > 0 && (self.alone || call.gate);
}

static void set_data(const struct sanitizer_launch_data *launch, const void *data)
{
    (void)works(
        self.api->set_launch_callback_data(launch->launch, launch->function, launch->handle, data),
        "setting of launch data");
}

void gate_launch(const struct sanitizer_launch_data *launch)
{
    if (call.sets) {
        set_data(launch, call.gate ? (void *)(uintptr_t)call.gate->address : NULL);
        call.sets = false;
    }
}

/* In the launch's own stream, so it is there when the kernel begins. */
void gate_attach(uint64_t user, const struct sanitizer_launch_data *launch)
{
    if (call.gate) {
        void *place = (void *)(uintptr_t)(user + GATE_OFFSET);
        (void)works(self.api->copy_to_device_async(place, &call.gate->address,
                                                   sizeof call.gate->address, launch->handle),
                    "placing of a gate");
    }
}

struct gate_due gate_take(void)
{
    struct gate_due due = call.due;
    call.due = (struct gate_due){0};
    return due;
}

void gate_give(const struct gate_due *due)
{
    call.due.opens |= due->opens;
    call.due.waits |= due->waits;
    call.due.handle = due->handle ? due->handle : call.due.handle;
}

void gate_host_access(uint32_t thread)
{
    for (size_t i = 0; atomic_load(&self.on) && i < self.count; i++) {
        struct gate *gate = &self.gates[i];
        if (gate->words.by_host && thread == gate->words.until.stream &&
            ++gate->until_seen == gate->words.until.seq &&
            __atomic_load_n(&gate->block, __ATOMIC_ACQUIRE)) {
            __atomic_store_n(&gate->state->submitted, 1, __ATOMIC_RELEASE);
            __atomic_store_n(&gate->state->opened, 1, __ATOMIC_RELEASE);
        }
    }
}

void gate_node(const struct sanitizer_launch_data *launch)
{
    if (atomic_load(&self.on) && self.count > 0 && self.alone) {
        set_data(launch, NULL);
    }
}

/* Puts the copy that opens it behind what was submitted. */
static void open_gate(struct gate *gate, struct sanitizer_stream *handle)
{
    struct gate_block *block = __atomic_load_n(&gate->block, __ATOMIC_ACQUIRE);
    if (block) {
        __atomic_store_n(&gate->state->submitted, 1, __ATOMIC_RELEASE);
        (void)works(self.api->copy_to_device_async(&block->done, &opened, sizeof opened, handle),
                    "opening of a gate");
    }
}

void gate_call_end(void)
{
    struct gate_due due = gate_take();
    call.gate = NULL;
    for (size_t i = 0; i < self.count && due.opens; i++) {
        if (due.opens & 1u << i) {
            open_gate(&self.gates[i], due.handle);
        }
    }
    if (due.waits && atomic_load(&self.on)) {
        (void)works(self.api->stream_synchronize(due.handle), "waiting for an item");
    }
}

/* -- what became of them -- */

static uint32_t released(const struct gate *gate)
{
    return gate->state ? __atomic_load_n(&gate->state->release, __ATOMIC_ACQUIRE) : GATE_HOLDS;
}

/* Why a gate did not hold until its partner was done. */
static void explain(const struct gate *gate, char *text, size_t room)
{
    const struct plan_item_text held = plan_item_text(&gate->words.held);
    const char *item = held.text;
    char partner[32];
    gate_words_until(&gate->words, partner, sizeof partner);
    if (!gate->op) {
        snprintf(text, room, "%s, which was to be held, was not submitted", item);
    } else if (gate->no_kernel) {
        snprintf(text, room, "%s is no kernel, so it can't be held", item);
    } else if (gate->no_memory || (self.failed && released(gate) == GATE_HOLDS)) {
        snprintf(text, room, "%s can't be held: %s failed (%s)", item,
                 self.failed_at ? self.failed_at : "patching",
                 sanitizer_result_text(self.api, self.failed));
    } else if (released(gate) == GATE_BY_LIMIT) {
        snprintf(text, room, "%s was held for %" PRIu32 " ms, and %s was not %s meanwhile", item,
                 gate->words.limit_ms, partner,
                 gate->words.by_host           ? "announced"
                 : gate->state->submitted_then ? "done"
                                               : "submitted");
    } else {
        snprintf(text, room, "nothing of %s had passed its gate when the program ended", item);
    }
}

static void tell(struct ssan_sink *sink, const struct gate *gate)
{
    struct ssan_event event = {.kind = SSAN_EV_gate};
    uint32_t release = released(gate);
    char text[256];
    event.gate.op = gate->op;
    event.gate.until = gate->until;
    event.gate.end = release == GATE_BY_PARTNER ? SSAN_gate_end_PARTNER
                     : release == GATE_BY_LIMIT ? SSAN_gate_end_LIMIT
                                                : SSAN_gate_end_NEVER;
    event.gate.blocks = release ? gate->state->blocks : 0;
    event.gate.held_ns = release ? gate->state->held_ns : 0;
    ssan_put(sink, &event);
    if (release != GATE_BY_PARTNER) {
        explain(gate, text, sizeof text);
        event = (struct ssan_event){.kind = SSAN_EV_infeasible};
        event.infeasible.text = (struct ssan_str){text, (uint32_t)strlen(text)};
        ssan_put(sink, &event);
    }
}

void gate_exit(struct ssan_sink *sink)
{
    if (!atomic_exchange(&self.on, false)) {
        return;
    }
    for (size_t i = 0; i < self.count; i++) {
        tell(sink, &self.gates[i]);
    }
}

void gate_detach(void)
{
    atomic_store(&self.on, false);
}
