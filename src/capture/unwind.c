/* The walk: a cache of rules, filled from the tables of loaded objects on a miss.
 *
 * Invariant: words are read only between the stack pointer and the end of the stack it is in, and
 * the stack pointer only grows, so a wrong rule ends the walk and does no harm; a rule is used only
 * in the set of loaded objects that it was made in. Naive model: look up the row for each frame's
 * address and apply it (unwind_apply), as is still done for the rare rows that no rule holds. Cost:
 * one cache line and two or three words of the stack a frame; a miss some microseconds. */
#include "capture/unwind.h"

#include "capture/objects.h"
#include "capture/unwind_full.h"
#include "capture/unwind_memory.h"
#include "capture/unwind_rule.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

#define FRAMES_MAX 512u /* of one stack that are looked at */
#define SLOTS      (UINT64_C(1) << 15)
#define PROBES     4u

/* A rule and its key, as two words that are read one by one: `check` is their exclusive or, so a
 * torn pair is no match. */
struct slot {
    _Atomic uint64_t check, rule;
};

static struct {
    pthread_mutex_t lock; /* for the objects and for writing slots */
    struct slot *slots;
} cache = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* What a miss finds out about an address. */
struct lookup {
    uint64_t pc; /* of the instruction */
    uint32_t module;
    bool has_row, is_behind_call;
    struct cfi_row row;
};

bool unwind_open(struct ssan_sink *sink)
{
    if (!cache.slots) {
        void *memory = mmap(NULL, SLOTS * sizeof(struct slot), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) {
            return false;
        }
        cache.slots = memory;
    }
    return objects_open(sink);
}

void unwind_close(void)
{
    if (cache.slots) {
        munmap(cache.slots, SLOTS * sizeof(struct slot));
        cache.slots = NULL;
    }
    objects_close();
}

void unwind_after_fork(void)
{
    pthread_mutex_init(&cache.lock, NULL);
}

/* Whether an instruction that ends at `address` can be a call; the bytes before are readable. */
static bool ends_call(uint64_t address)
{
#if defined __x86_64__
    const uint8_t *end = (const uint8_t *)(uintptr_t)address;
    if (address % 4096 < 7) {
        return true; /* the page before may be another's */
    }
    if (end[-5] == 0xe8) {
        return true;
    }
    for (int length = 2; length <= 7; length++) {
        if (end[-length] == 0xff && (end[-length + 1] & 0x38) == 0x10) {
            return true;
        }
    }
    return false;
#else
    uint32_t word = *(const uint32_t *)(uintptr_t)(address - 4);
    return (word & 0xfc000000u) == 0x94000000u || (word & 0xfffff000u) == 0xd63f0000u ||
           (word & 0xfffff000u) == 0xd73f0000u;
#endif
}

static void take_object(void *self, uint32_t module, const struct cfi_object *tables)
{
    struct lookup *lookup = self;
    lookup->module = module;
    lookup->has_row = tables && cfi_find(tables, lookup->pc, &lookup->row);
    /* Without a table the address may come from a wrong chain, and is looked at. */
    lookup->is_behind_call = ends_call(lookup->pc + 1);
}

/* Takes the lock of the caller. */
static void look_up(struct lookup *lookup, uint64_t pc)
{
    lookup->pc = pc;
    lookup->module = 0;
    lookup->has_row = lookup->is_behind_call = false;
    (void)objects_visit(pc, take_object, lookup);
}

static uint64_t make_rule(uint64_t pc, uint64_t key, uint64_t first)
{
    struct lookup lookup;
    struct slot *slot = &cache.slots[first];
    uint64_t rule;
    pthread_mutex_lock(&cache.lock);
    look_up(&lookup, pc - 1);
    rule = rule_make(lookup.has_row ? &lookup.row : NULL, lookup.module,
                     lookup.module && object_flags(lookup.module), lookup.is_behind_call);
    for (unsigned i = 0; i < PROBES; i++) {
        struct slot *next = &cache.slots[(first + i) & (SLOTS - 1)];
        uint64_t other = atomic_load_explicit(&next->rule, memory_order_relaxed);
        uint64_t check = atomic_load_explicit(&next->check, memory_order_relaxed);
        if (other == RULE_NONE || (check ^ other) >> 48 != key >> 48) {
            slot = next; /* empty, or of a set of objects that is gone */
            break;
        }
    }
    atomic_store_explicit(&slot->rule, rule, memory_order_relaxed);
    atomic_store_explicit(&slot->check, key ^ rule, memory_order_relaxed);
    pthread_mutex_unlock(&cache.lock);
    return rule;
}

/* A rule that is not in its first slot. */
static __attribute__((noinline)) uint64_t find_slow(uint64_t pc, uint64_t key, uint64_t first)
{
    for (unsigned i = 1; i < PROBES; i++) {
        struct slot *slot = &cache.slots[(first + i) & (SLOTS - 1)];
        uint64_t rule = atomic_load_explicit(&slot->rule, memory_order_relaxed);
        if ((atomic_load_explicit(&slot->check, memory_order_relaxed) ^ rule) == key) {
            return rule;
        }
    }
    return make_rule(pc, key, first);
}

/* The rule for a return address. Where it mostly is it is found without a call; the rest is in
 * find_slow. */
static inline uint64_t find(uint64_t pc, uint64_t generation)
{
    uint64_t key = (pc & UNWIND_ADDRESS) | generation << 48;
    uint64_t first = (pc * UINT64_C(0x9e3779b97f4a7c15)) >> 49;
    struct slot *slot = &cache.slots[first];
    uint64_t rule = atomic_load_explicit(&slot->rule, memory_order_relaxed);
    if (__builtin_expect((atomic_load_explicit(&slot->check, memory_order_relaxed) ^ rule) == key,
                         1)) {
        return rule;
    }
    return find_slow(pc, key, first);
}

struct walk {
    struct unwind_stack *stack;
    unwind_special *special;
    void *self;
    uint32_t seen; /* frames visited */
};

/* Takes the frame at pc, which is of a module with flags; false ends the walk. Frames of no object
 * are passed over. */
static bool take_special(struct walk *walk, uint64_t pc, uint32_t module)
{
    enum unwind_step step = walk->special(walk->self, object_flags(module));
    if (step == UNWIND_KEEP) {
        unwind_push(walk->stack, (uint64_t)module << 48 | (pc & UNWIND_ADDRESS));
    }
    return step != UNWIND_END;
}

/* Takes the frame at pc; false ends the walk. */
static inline bool take(struct walk *walk, uint64_t pc, uint32_t module, bool is_special)
{
    walk->seen++;
    if (is_special) {
        return take_special(walk, pc, module);
    }
    if (module) {
        unwind_push(walk->stack, (uint64_t)module << 48 | (pc & UNWIND_ADDRESS));
    }
    return walk->stack->count < walk->stack->room || walk->stack->goes_on;
}

static uint64_t strip(uint64_t pc)
{
#if defined __aarch64__
    return pc & UNWIND_ADDRESS; /* the bits of pointer authentication */
#else
    return pc;
#endif
}

static bool holds(uint64_t address, uint64_t sp, uint64_t end)
{
    return address % 8 == 0 && address >= sp && address < end && end - address >= 8;
}

/* Follows the frame record at fp: code without tables may keep one. */
static bool follow_chain(uint64_t *pc, uint64_t *sp, uint64_t *fp, uint64_t end)
{
    uint64_t record = *fp;
    if (!holds(record, *sp, end) || !holds(record + 8, *sp, end)) {
        return false;
    }
    *pc = strip(unwind_word(record + 8));
    *fp = unwind_word(record);
    *sp = record + 16;
    return *pc != 0;
}

/* The walk by whole rows from the start, passing over `walk->seen` frames that are told already. */
static void walk_in_full(struct walk *walk, struct unwind_registers *registers)
{
    uint32_t told = walk->seen;
    bool is_exact = false;
    uint64_t *sp = &registers->values[CFI_SP], *fp = &registers->values[CFI_FP];
    for (uint32_t depth = 0; depth < FRAMES_MAX; depth++) {
        struct lookup lookup;
        uint64_t end = unwind_stack_end(*sp), pc = registers->pc, low = *sp;
        pthread_mutex_lock(&cache.lock);
        look_up(&lookup, is_exact ? pc : pc - 1);
        pthread_mutex_unlock(&cache.lock);
        /* Behind an interrupted instruction there is no call: the frame is told as if it were. */
        if (depth >= told && !take(walk, is_exact ? pc + 1 : pc, lookup.module,
                                   lookup.module && object_flags(lookup.module))) {
            return;
        }
        if (lookup.has_row) {
            if (!unwind_apply(&lookup.row, registers, low, end)) {
                return;
            }
            registers->pc = strip(registers->pc);
            is_exact = lookup.row.is_signal_frame;
        } else if (follow_chain(&registers->pc, sp, fp, end)) {
            is_exact = false;
        } else {
            return;
        }
        if (*sp <= low && !is_exact) {
            return;
        }
    }
}

/* The caller of a frame by its rule, of a kind with a CFA; false: there can be none. */
static inline bool step(uint64_t rule, uint64_t *pc, uint64_t *sp, uint64_t *fp, uint64_t end)
{
    enum rule_kind kind = rule_kind(rule);
    uint64_t cfa = (kind == RULE_SP ? *sp : *fp) + rule_cfa(rule), record = *fp;
    if (kind == RULE_REALIGNED) {
        if (!holds(cfa, *sp, end)) {
            return false;
        }
        cfa = unwind_word(cfa);
    } else {
        record = cfa;
    }
    if (cfa <= *sp || !holds(cfa + rule_ra(rule), *sp, end)) {
        return false;
    }
    if (rule_stores_fp(rule)) {
        if (!holds(record + rule_fp(rule), *sp, end)) {
            return false;
        }
        *fp = unwind_word(record + rule_fp(rule));
    }
    *pc = strip(unwind_word(cfa + rule_ra(rule)));
    *sp = cfa;
    return *pc != 0;
}

void unwind_walk(struct unwind_registers *registers, struct unwind_stack *stack,
                 unwind_special *special, void *self)
{
    struct walk walk = {stack, special, self, 0};
    uint64_t pc = registers->pc, sp = registers->values[CFI_SP], fp = registers->values[CFI_FP];
    uint64_t end = unwind_stack_end(sp), generation = objects_generation();
    bool by_chain = false;
    while (walk.seen < FRAMES_MAX) {
        uint64_t rule = find(pc, generation);
        enum rule_kind kind = rule_kind(rule);
        if (kind == RULE_TABLE) {
            walk_in_full(&walk, registers);
            return;
        }
        if (by_chain && rule_module(rule) && !rule_is_behind_call(rule)) {
            return; /* the frame pointer was none */
        }
        if (!take(&walk, pc, rule_module(rule), rule_is_special(rule)) || kind == RULE_OUTERMOST) {
            return;
        }
        by_chain = kind == RULE_CHAIN;
        if (!(by_chain ? follow_chain(&pc, &sp, &fp, end) : step(rule, &pc, &sp, &fp, end))) {
            return;
        }
    }
}
