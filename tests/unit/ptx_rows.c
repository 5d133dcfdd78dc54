/* Loads and stores in rows against a model that moves each lane on its own: random kernels whose
 * accesses share base registers, in full and partial warps, under guards and behind branches, of
 * global, shared and generic addresses; and what must end a row: faults, other memory, another
 * epoch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "ptx/lane.h"
#include "unit/ptx_support.h"

#include <stdlib.h>
#include <string.h>

#define SEED        4711
#define ROUNDS      150
#define ARENA       65536u
#define SHARED      4096u
#define STEPS       10
#define FIRST_LINE  10
#define LANES       32u
#define MOST_WORDS  4u
#define GUARD_LEAST 5u /* lanes from here on run what stands under a guard */

enum step_kind { STEP_load, STEP_store, STEP_move_base, STEP_skip, STEP_join, STEP_call };
enum where { WHERE_global, WHERE_shared, WHERE_generic, WHERE_generic_shared, WHERE_count };

struct step {
    enum step_kind kind;
    enum where where;
    uint32_t words, width; /* of a lane: 1, 2 or 4 of 4 bytes, or 1 of 8 */
    uint32_t offset;
    bool guarded;
};

/* Thread t of all starts at element (t / every * far + t % every * near) % room of its memory. */
struct kernel {
    uint32_t every, far, near, room, grid, block, step_count;
    struct step steps[STEPS];
};

static struct step random_step(struct rng *rng, bool *skips)
{
    struct step s = {.kind = rng_below(rng, 2) ? STEP_load : STEP_store,
                     .where = (enum where)rng_below(rng, WHERE_count),
                     .words = 1,
                     .width = 4,
                     .guarded = rng_below(rng, 5) == 0};
    if (rng_below(rng, 8) == 0) {
        s.kind = STEP_move_base;
    } else if (rng_below(rng, 10) == 0) {
        s.kind = STEP_call;
    } else if (rng_below(rng, 8) == 0) {
        s.kind = *skips ? STEP_join : STEP_skip;
        *skips = !*skips;
    }
    const uint64_t form = rng_below(rng, 8);
    s.words = form == 0 ? 2 : form == 1 ? 4 : 1;
    s.width = form == 2 || form == 3 ? 8 : 4;
    s.offset = (uint32_t)rng_below(rng, 16) * s.words * s.width;
    return s;
}

static struct kernel random_kernel(struct rng *rng)
{
    static const uint32_t groups[] = {1, 8, 16, 32, 64, 12, 1000000};
    struct kernel k = {.every = groups[rng_below(rng, 7)],
                       .far = (uint32_t)rng_below(rng, 3) * (uint32_t)rng_below(rng, 40),
                       .near = (uint32_t)rng_below(rng, 3),
                       .room = 64 + (uint32_t)rng_below(rng, 120),
                       .grid = 1 + (uint32_t)rng_below(rng, 4),
                       .block = 1 + (uint32_t)rng_below(rng, 100),
                       .step_count = STEPS};
    bool skips = false;
    if (rng_below(rng, 2)) {
        k.block = 64;
    }
    for (uint32_t i = 0; i < STEPS; i++) {
        k.steps[i] = random_step(rng, &skips);
    }
    return k;
}

/* -- as PTX -- */

static void add_access(struct strbuf *text, const struct step *s)
{
    static const char *const spaces[] = {".global", ".shared", "", ""};
    static const char *const bases[] = {"l1", "l2", "l1", "l3"};
    const char *values = s->width == 8   ? "l8"
                         : s->words == 4 ? "{r8,r9,r10,r11}"
                         : s->words == 2 ? "{r8,r9}"
                                         : "r8";
    const char *vector = s->words == 4 ? ".v4" : s->words == 2 ? ".v2" : "";
    const char *guard = s->guarded ? "@p1 " : "", *type = s->width == 8 ? "u64" : "u32";
    if (s->kind == STEP_load) {
        strbuf_printf(text, "%sld%s%s.%s %s, [%s+%u];\n", guard, spaces[s->where], vector, type,
                      values, bases[s->where], s->offset);
    } else {
        strbuf_printf(text, "add.u32 r8, r8, 7; add.u64 l8, l8, 9; %sst%s%s.%s [%s+%u], %s;\n",
                      guard, spaces[s->where], vector, type, bases[s->where], s->offset, values);
    }
}

static void print_kernel(struct strbuf *text, const struct kernel *k)
{
    strbuf_puts(text,
                ".version 7.0\n.target sm_70\n.address_size 64\n"
                ".func f(.param .b64 at)\n{ .reg .b32 r<2>; .reg .b64 l<2>; ld.param.u64 l0, [at]; "
                "ld.global.u32 r0, [l0]; ld.global.u32 r1, [l0+64]; ret; }\n"
                ".visible .entry k(.param .u64 p)\n{ .reg .b32 r<16>; .reg .b64 l<16>; .reg .pred "
                "p<4>; .shared .align 16 .b8 "
                "sm[4096];\nld.param.u64 l0, [p]; mov.u32 r1, %ctaid.x; mov.u32 r2, %ntid.x; "
                "mov.u32 r3, %tid.x; mad.lo.u32 r4, r1, r2, r3;\n");
    strbuf_printf(
        text,
        "div.u32 r5, r4, %u; rem.u32 r6, r4, %u; mul.lo.u32 r5, r5, %u; mad.lo.u32 r5, r6, "
        "%u, r5; rem.u32 r5, r5, %u;\n",
        k->every, k->every, k->far, k->near, k->room);
    strbuf_printf(
        text,
        "mul.wide.u32 l4, r5, 16; add.u64 l1, l0, l4; mov.u64 l2, sm; "
        "add.u64 l2, l2, l4; cvta.shared.u64 l3, l2;\n"
        "mov.u32 r8, r4; mov.u32 r9, 1; mov.u32 r10, 2; mov.u32 r11, 3; cvt.u64.u32 l8, r4; "
        "and.b32 r7, r3, 31; setp.ge.u32 p1, r7, %u; setp.lt.u32 p2, r7, 9;\n",
        GUARD_LEAST);
    uint32_t labels = 0;
    bool skips = false;
    for (uint32_t i = 0; i < k->step_count; i++) {
        const struct step *s = &k->steps[i];
        strbuf_printf(text, ".loc 1 %u 0\n", FIRST_LINE + i);
        if (s->kind == STEP_move_base) {
            strbuf_puts(text, "add.u64 l1, l1, 16; add.u64 l2, l2, 16; add.u64 l3, l3, 16;\n");
        } else if (s->kind == STEP_call) {
            strbuf_puts(text, "{ .param .b64 at; st.param.b64 [at], l0; call f, (at); }\n");
        } else if (s->kind == STEP_skip) {
            strbuf_printf(text, "@p2 bra L%u;\n", labels);
        } else if (s->kind == STEP_join) {
            strbuf_printf(text, "L%u:\n", labels++);
        } else {
            add_access(text, s);
        }
        skips = s->kind == STEP_skip || (skips && s->kind != STEP_join);
    }
    if (skips) {
        strbuf_printf(text, "L%u:\n", labels);
    }
    strbuf_puts(text, "ret; }\n.file 1 \"/src/x.cu\"\n");
}

/* -- as the model -- */

struct thread {
    uint32_t at; /* bytes from the start of either memory */
    uint32_t words[MOST_WORDS];
    uint64_t wide;
    bool skips;
};

struct model {
    unsigned char arena[ARENA], shared[SHARED];
    unsigned char touched[STEPS][ARENA];
};

static void model_access(struct model *m, const struct step *s, uint32_t line, struct thread *lane)
{
    const bool is_shared = s->where == WHERE_shared || s->where == WHERE_generic_shared;
    const uint32_t at = lane->at + s->offset, size = s->words * s->width;
    unsigned char *memory = (is_shared ? m->shared : m->arena) + at;
    void *values = s->width == 8 ? (void *)&lane->wide : (void *)lane->words;
    assert_true(at + size <= (is_shared ? SHARED : ARENA));
    memcpy(s->kind == STEP_load ? values : memory, s->kind == STEP_load ? memory : values, size);
    if (!is_shared) {
        memset(m->touched[line] + at, 1, size);
    }
}

static void model_step(struct model *m, const struct step *s, uint32_t line, struct thread *lane,
                       uint32_t index)
{
    if (s->kind == STEP_join) {
        lane->skips = false;
    }
    if (lane->skips) {
        return;
    }
    if (s->kind == STEP_move_base) {
        lane->at += 16;
    } else if (s->kind == STEP_skip) {
        lane->skips = index < 9;
    } else if (s->kind == STEP_load || s->kind == STEP_store) {
        if (s->kind == STEP_store) {
            lane->words[0] += 7;
            lane->wide += 9;
        }
        if (!s->guarded || index >= GUARD_LEAST) {
            model_access(m, s, line, lane);
        }
    }
}

/* Warp by warp, step by step, lanes in ascending order. Lanes that skip do so before others go on,
 * which changes nothing: they touch nothing meanwhile. */
static void model_run(struct model *m, const struct kernel *k)
{
    for (uint32_t first = 0, block = 0; block < k->grid; first = ++block * k->block) {
        memset(m->shared, 0xff, SHARED);
        for (uint32_t warp = 0; warp < k->block; warp += LANES) {
            const uint32_t count = k->block - warp < LANES ? k->block - warp : LANES;
            struct thread lanes[LANES];
            for (uint32_t i = 0; i < count; i++) {
                const uint32_t t = first + warp + i;
                lanes[i] = (struct thread){.at = (t / k->every * k->far + t % k->every * k->near) %
                                                 k->room * 16,
                                           .words = {t, 1, 2, 3},
                                           .wide = t};
            }
            for (uint32_t s = 0; s < k->step_count; s++) {
                for (uint32_t i = 0; i < count; i++) {
                    model_step(m, &k->steps[s], s, &lanes[i], i);
                }
            }
        }
    }
}

static void unpack(const struct ptx_access *set, uint64_t base, unsigned char *seen)
{
    for (uint32_t i = 0; i < set->runs.count; i++) {
        const struct ssan_run *run = &set->runs.ptr[i];
        for (uint64_t n = 0; n < run->count; n++) {
            memset(seen + (run->address + n * run->stride - base), 1, run->length);
        }
    }
    for (size_t i = 0; i < set->leaf_count; i++) {
        for (uint32_t bit = 0; bit < SSAN_LEAF_BYTES; bit++) {
            if (set->leaves[i].bits[bit / 64] >> bit % 64 & 1) {
                seen[set->leaves[i].address + bit - base] = 1;
            }
        }
    }
}

static void check_observed(struct ptx_exec *exec, const struct model *m, uint64_t base,
                           const char *text)
{
    const struct ptx_access *sets;
    size_t count;
    unsigned char *seen = mem_alloc(ARENA);
    assert_non_null(seen);
    assert_true(ptx_exec_observed(exec, &sets, &count));
    for (uint32_t line = 0; line < STEPS; line++) {
        memset(seen, 0, ARENA);
        for (size_t i = 0; i < count; i++) {
            if (sets[i].at.line == line + FIRST_LINE) {
                unpack(&sets[i], base, seen);
            }
        }
        if (memcmp(seen, m->touched[line], ARENA) != 0) {
            fail_msg("line %u is observed wrong (seed %d)\n%s", line + FIRST_LINE, SEED, text);
        }
    }
    mem_free(seen);
}

static void random_round(struct rng *rng, const char *isa)
{
    struct kernel k = random_kernel(rng);
    struct strbuf text = {0};
    struct device device;
    struct model *m = mem_zalloc(1, sizeof *m);
    unsigned char *arena = aligned_alloc(SSAN_LEAF_BYTES, ARENA);
    assert_true(m && arena);
    for (uint32_t i = 0; i < ARENA; i++) {
        arena[i] = m->arena[i] = (unsigned char)rng_next(rng);
    }
    print_kernel(&text, &k);
    device_init(&device);
    device_map(&device, arena, ARENA, true);
    assert_true(lane_isa_choose(isa));
    struct ptx_module *module = module_load(&device, strbuf_text(&text));
    const uint64_t base = (uint64_t)(uintptr_t)arena;
    const struct ptx_launch launch = launch_of(module, "k", k.grid, k.block, &base);
    struct ptx_exec *exec = ptx_exec_create(&device.machine, &launch);
    enum ptx_state state = PTX_RUNNING;
    while (state == PTX_RUNNING) { /* one block at a time, with other regions in between */
        device.epoch += rng_below(rng, 2);
        state = ptx_exec_run(exec, 1);
    }
    assert_int_equal(state, PTX_DONE);
    model_run(m, &k);
    if (memcmp(arena, m->arena, ARENA) != 0) {
        fail_msg("memory differs (seed %d)\n%s", SEED, strbuf_text(&text));
    }
    check_observed(exec, m, base, strbuf_text(&text));
    ptx_exec_destroy(exec);
    module_drop(module);
    device_finish(&device);
    lane_isa_choose(NULL);
    strbuf_finish(&text);
    mem_free(m);
    free(arena);
}

static void random_rounds(const char *isa)
{
    struct rng rng = {SEED};
    if (!lane_isa_choose(isa)) {
        print_message("no %s here\n", isa);
        skip();
    }
    for (int i = 0; i < ROUNDS; i++) {
        random_round(&rng, isa);
    }
    print_message("%d kernels, seed %d\n", ROUNDS, SEED);
}

static void rows_equal_lanes_on_any_processor(void **state)
{
    random_rounds("base");
}

static void rows_equal_lanes_with_avx2(void **state)
{
    random_rounds("avx2");
}

/* -- what ends a row -- */

/* Each thread of two blocks stores its index at p + n + 4 * index. */
#define STORE_KERNEL                                                                               \
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u64 " \
    "n)\n{ .reg .b32 r<8>; .reg .b64 l<8>; .reg .pred p<2>; ld.param.u64 l0, [p]; ld.param.u64 "   \
    "l2, [n];\n"                                                                                   \
    "mov.u32 r1, %ctaid.x; mov.u32 r2, %ntid.x; mov.u32 r3, %tid.x; mad.lo.u32 r4, r1, r2, r3;\n"  \
    "mul.wide.u32 l1, r4, 4; add.u64 l1, l0, l1; setp.ne.u32 p0, r1, 0; @p0 add.u64 l1, l1, l2;\n" \
    "st.global.u32 [l1], r4; ret; }\n"

#define BLOCK 64u

struct two_blocks {
    struct device device;
    struct ptx_module *module;
    struct ptx_exec *exec;
    uint32_t words[256], other[256];
};

static void first_block(struct two_blocks *t, uint64_t shift, size_t bytes, bool dry)
{
    memset(t, 0, sizeof *t);
    device_init(&t->device);
    device_map(&t->device, t->words, bytes, true);
    t->module = module_load(&t->device, STORE_KERNEL);
    const uint64_t params[2] = {(uint64_t)(uintptr_t)t->words, shift};
    struct ptx_launch launch = launch_of(t->module, "k", 2, BLOCK, params);
    launch.dry = dry;
    t->exec = ptx_exec_create(&t->device.machine, &launch);
    assert_int_equal(ptx_exec_run(t->exec, 1), PTX_RUNNING);
    for (uint32_t i = 0; i < BLOCK; i++) {
        assert_int_equal(t->words[i], i);
    }
}

static void two_blocks_end(struct two_blocks *t)
{
    ptx_exec_destroy(t->exec);
    module_drop(t->module);
    device_finish(&t->device);
}

/* The second block runs over the end with its last thread, whose lane is named; those before it
 * stored. */
static void a_row_that_leaves_memory_faults_at_its_lane(void **state)
{
    struct two_blocks t;
    first_block(&t, 0, (2 * BLOCK - 1) * sizeof *t.words, false);
    assert_int_equal(ptx_exec_run(t.exec, 0), PTX_FAULTED);
    const struct ptx_fault_info *fault = ptx_exec_fault(t.exec);
    assert_int_equal(fault->fault, PTX_FAULT_ILLEGAL_ADDRESS);
    assert_int_equal(fault->address, (uint64_t)(uintptr_t)&t.words[2 * BLOCK - 1]);
    assert_int_equal(fault->thread[0], BLOCK - 1);
    assert_int_equal(fault->block[0], 1);
    assert_true(fault->is_write);
    assert_int_equal(t.words[2 * BLOCK - 2], 2 * BLOCK - 2);
    assert_int_equal(t.words[2 * BLOCK - 1], 0);
    two_blocks_end(&t);
}

static void a_misaligned_row_faults(void **state)
{
    struct two_blocks t;
    first_block(&t, 2, sizeof t.words, false);
    assert_int_equal(ptx_exec_run(t.exec, 0), PTX_FAULTED);
    const struct ptx_fault_info *fault = ptx_exec_fault(t.exec);
    assert_int_equal(fault->fault, PTX_FAULT_MISALIGNED);
    assert_int_equal(fault->address, (uint64_t)(uintptr_t)&t.words[BLOCK] + 2);
    assert_int_equal(fault->thread[0], 0);
    two_blocks_end(&t);
}

/* Between the blocks the memory is made read-only, or moved elsewhere. */
static void a_new_epoch_ends_what_was_known(void **state)
{
    struct two_blocks t;
    first_block(&t, 0, sizeof t.words, false);
    t.device.regions[0].writable = false;
    t.device.epoch++;
    assert_int_equal(ptx_exec_run(t.exec, 0), PTX_FAULTED);
    assert_int_equal(ptx_exec_fault(t.exec)->fault, PTX_FAULT_ILLEGAL_ADDRESS);
    assert_int_equal(t.words[BLOCK], 0);
    two_blocks_end(&t);

    first_block(&t, 0, sizeof t.words, false);
    t.device.regions[0].delta = (char *)t.other - (char *)t.words;
    t.device.epoch++;
    assert_int_equal(ptx_exec_run(t.exec, 0), PTX_DONE);
    for (uint32_t i = BLOCK; i < 2 * BLOCK; i++) {
        assert_int_equal(t.words[i], 0);
        assert_int_equal(t.other[i], i);
    }
    two_blocks_end(&t);
}

/* Freed between the blocks: a fault, or in a dry run an access that is observed and nothing else.
 */
static void rows_of_freed_memory_stay_away_from_it(void **state)
{
    struct two_blocks t;
    const struct ptx_access *sets;
    size_t count;
    first_block(&t, 0, sizeof t.words, false);
    t.device.region_count = 0;
    t.device.epoch++;
    assert_int_equal(ptx_exec_run(t.exec, 0), PTX_FAULTED);
    assert_int_equal(ptx_exec_fault(t.exec)->address, (uint64_t)(uintptr_t)&t.words[BLOCK]);
    two_blocks_end(&t);

    first_block(&t, 0, sizeof t.words, true);
    t.device.region_count = 0;
    t.device.epoch++;
    assert_int_equal(ptx_exec_run(t.exec, 0), PTX_DONE);
    for (uint32_t i = BLOCK; i < 2 * BLOCK; i++) {
        assert_int_equal(t.words[i], 0);
    }
    assert_true(ptx_exec_observed(t.exec, &sets, &count));
    assert_int_equal(count, 1);
    assert_int_equal(sets[0].runs.count, 1);
    assert_int_equal(sets[0].runs.ptr[0].length, 2 * BLOCK * sizeof *t.words);
    two_blocks_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_equal_lanes_on_any_processor),
        cmocka_unit_test(rows_equal_lanes_with_avx2),
        cmocka_unit_test(a_row_that_leaves_memory_faults_at_its_lane),
        cmocka_unit_test(a_misaligned_row_faults),
        cmocka_unit_test(a_new_epoch_ends_what_was_known),
        cmocka_unit_test(rows_of_freed_memory_stay_away_from_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
