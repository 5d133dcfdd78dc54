/* Pages of bits against a set of bytes: what is told, in groups of one block of memory each; and
 * which instructions are told to have made the accesses. */
#include "capture/memory.h"
#include "capture/observe_leaves.h"
#include "capture/observe_module.h"
#include "capture/observe_sites.h"
#include "capture/patch_abi.h"
#include "capture/stack.h"
#include "support/cubin_file.h"
#include "support/temporary.h"

#include "base/rng.h"

#include <pthread.h>

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BASE  UINT64_C(0x7f4200000000)
#define PAGES 3u
#define BYTES (PAGES * (UINT64_C(256) << 10))

static struct {
    struct ssan_sink sink;
    unsigned char seen[BYTES], wanted[BYTES];
    bool has_wanted;
    uint32_t sites[BYTES], wanted_sites[BYTES]; /* of each byte, as told; 0 where none is */
    uint64_t runs, leaf_events, leaves;
    uint32_t groups;
    struct memory_block blocks[8];
    uint32_t block_count;
    uint32_t site_count, lost_stacks;
    uint64_t site_frames[16][8];
    uint32_t site_sizes[16];
} test;

static void add(uint64_t address, uint64_t length, uint32_t site)
{
    assert_true(address >= BASE && address + length <= BASE + BYTES);
    for (uint64_t i = address - BASE; i < address - BASE + length; i++) {
        assert_int_equal(test.seen[i], 0);
        test.seen[i] = 1;
        test.sites[i] = site;
    }
}

static void on_event(struct ssan_sink *self, const struct ssan_event *event)
{
    test.lost_stacks += event->kind == SSAN_EV_lost && event->lost.what == SSAN_loss_STACKS;
    if (event->kind == SSAN_EV_set) {
        test.runs += event->set.runs.count;
        for (uint32_t i = 0; i < event->set.runs.count; i++) {
            const struct ssan_run *run = &event->set.runs.ptr[i];
            uint64_t end;
            assert_true(ssan_run_end(run, &end));
            for (uint64_t k = 0; k < run->count; k++) {
                add(run->address + k * run->stride, run->length, event->set.site);
            }
        }
    } else if (event->kind == SSAN_EV_set_leaf) {
        const struct ssan_ev_set_leaf *set = &event->set_leaf;
        uint64_t unit = UINT64_C(1) << set->unit_log2;
        test.leaf_events++;
        test.leaves += ssan_leaf_count(set);
        assert_true(ssan_leaf_count(set) > 0);
        assert_int_equal(unit, set->width);
        for (uint64_t i = 0; i < (uint64_t)set->bits.count * 64; i++) {
            if (set->bits.ptr[i / 64] >> (i % 64) & 1) {
                add(set->address + i * unit, unit, set->site);
            }
        }
    } else if (event->kind == SSAN_EV_site && test.site_count < 15) {
        uint32_t id = ++test.site_count;
        assert_int_equal(event->site.site, id);
        test.site_sizes[id] = event->site.frames.count;
        memcpy(test.site_frames[id], event->site.frames.ptr, event->site.frames.count * 8);
    }
}

/* What is told of a group are the parts that its bits touch, and no others. */
static void check_parts(uint32_t kind, uint64_t begin, uint64_t end,
                        const struct observe_parts *parts)
{
    const unsigned unit = PATCH_UNIT(PATCH_KIND_IS_SMALL(kind));
    struct observe_parts wanted = {.rows = {0}};
    for (uint64_t at = begin; at < end; at++) {
        if (test.wanted[at - BASE]) {
            uint64_t word = at >> unit >> PATCH_WORD_SHIFT;
            uint32_t both = PATCH_PARTS((uint32_t)(word >> PATCH_LEAF_SHIFT),
                                        (uint32_t)(word % PATCH_PAGE_WORDS));
            wanted.rows[__builtin_ctz(both)] |= (uint16_t)(both >> 16);
        }
    }
    assert_memory_equal(parts->rows, wanted.rows, sizeof wanted.rows);
}

/* The site of a group is the number of its block + 1; each group is within one block. */
static uint32_t find_site(void *self, uint32_t kind, uint64_t begin, uint64_t end,
                          const struct observe_parts *parts)
{
    test.groups++;
    if (test.has_wanted) {
        check_parts(kind, begin, end, parts);
    }
    for (uint32_t i = 0; i < test.block_count; i++) {
        const struct memory_block *block = &test.blocks[i];
        if (begin >= block->address && end <= block->address + block->size) {
            return i + 1;
        }
        assert_true(end <= block->address || begin >= block->address + block->size);
    }
    return 0;
}

static void add_blocks(struct rng *rng)
{
    const bool is_whole = rng_below(rng, 4) == 0; /* one block has all pages */
    uint64_t at = BASE;
    test.block_count = 0;
    while (test.block_count < 8) {
        uint64_t size =
            rng_below(rng, 2) ? 512 * (1 + rng_below(rng, 300)) : 4 * (1 + rng_below(rng, 38400));
        size = is_whole ? BYTES : size;
        at += is_whole ? 0 : 512 * rng_below(rng, 3);
        if (at + size > BASE + BYTES) {
            break;
        }
        struct memory_block block = {at,    size, test.block_count + 1, SSAN_memory_DEVICE, 1,
                                     false, NULL};
        test.blocks[test.block_count++] = block;
        assert_true(memory_add(&block));
        at += size;
    }
}

static void remove_blocks(void)
{
    struct memory_block block;
    for (uint32_t i = 0; i < test.block_count; i++) {
        assert_true(memory_remove(test.blocks[i].address, &block));
    }
}

static void set_bit(uint32_t *bits, uint64_t at, uint64_t first_byte, uint64_t unit)
{
    bits[at / 32] |= 1u << (at % 32);
    memset(&test.wanted[first_byte + unit * at], 1, unit);
}

static void set_bits(struct rng *rng, uint32_t *bits, uint64_t first_byte, uint64_t unit)
{
    uint64_t count = UINT64_C(65536), at = rng_below(rng, 3) ? 0 : rng_below(rng, count);
    uint64_t stride = 1 + (rng_below(rng, 3) ? 0 : rng_below(rng, 40));
    unsigned often = rng_below(rng, 2) ? 1 : 1 + (unsigned)rng_below(rng, 20);
    uint64_t end = rng_below(rng, 2) ? count : at + rng_below(rng, count - at + 1);
    for (; at < end; at += stride) {
        if (often == 1 || rng_below(rng, often) == 0) {
            set_bit(bits, at, first_byte, unit);
        }
    }
}

/* The same over and over: one bit, and sometimes many of a part behind it. */
static void repeat_bits(struct rng *rng, uint32_t *bits, uint64_t first_byte, uint64_t unit)
{
    uint64_t period = 2 + rng_below(rng, rng_below(rng, 2) ? 64 : 16384), seed = rng_next(rng);
    uint64_t from = rng_below(rng, period), length = rng_below(rng, 2) * rng_below(rng, period);
    for (uint64_t at = 0; at < 65536; at += period) {
        struct rng same = {seed};
        set_bit(bits, at, first_byte, unit);
        for (uint64_t i = at + from; i < at + from + length && i < at + period; i++) {
            if (rng_below(&same, 2) && i < 65536) {
                set_bit(bits, i, first_byte, unit);
            }
        }
    }
}

static void want_sites(void)
{
    memset(test.wanted_sites, 0, sizeof test.wanted_sites);
    for (uint32_t i = 0; i < test.block_count; i++) {
        const struct memory_block *block = &test.blocks[i];
        for (uint64_t k = block->address - BASE; k < block->address + block->size - BASE; k++) {
            test.wanted_sites[k] = test.wanted[k] ? i + 1 : 0;
        }
    }
}

static void bits_are_told(void **state)
{
    static uint32_t pages[PAGES][PATCH_PAGE_WORDS];
    struct rng rng = {17};
    test.sink.put = on_event;
    test.has_wanted = true;
    for (unsigned round = 0; round < 600; round++) {
        uint32_t is_small = round % 2;
        unsigned shift = PATCH_LEAF_BYTES(is_small);
        struct observe_leaf leaves[PAGES];
        struct observe_leaves out = {&test.sink, 1, find_site, NULL};
        memset(pages, 0, sizeof pages);
        memset(test.seen, 0, sizeof test.seen);
        memset(test.wanted, 0, sizeof test.wanted);
        memset(test.sites, 0, sizeof test.sites);
        add_blocks(&rng);
        for (unsigned i = 0; i < PAGES; i++) {
            leaves[i].what = ((BASE >> shift) + i) << 3 | PATCH_KIND(1u, is_small);
            leaves[i].bits = pages[i];
            void (*set)(struct rng *, uint32_t *, uint64_t, uint64_t) =
                rng_below(&rng, 2) ? set_bits : repeat_bits;
            set(&rng, pages[i], (uint64_t)i << shift, UINT64_C(1) << PATCH_UNIT(is_small));
        }
        observe_leaves_tell(&out, leaves, PAGES);
        assert_memory_equal(test.seen, test.wanted, BYTES);
        want_sites();
        assert_memory_equal(test.sites, test.wanted_sites, sizeof test.sites);
        remove_blocks();
    }
    test.has_wanted = false;
    assert_true(test.groups > 300);
}

/* What takes most space: words at random, as a gather leaves them, are a bit each. */
static void crowded_words_go_together(void **state)
{
    static uint32_t page[PATCH_PAGE_WORDS];
    struct rng rng = {18};
    struct observe_leaf leaf = {(BASE >> 18) << 3 | PATCH_KIND(0u, 0u), page};
    struct observe_leaves out = {&test.sink, 1, find_site, NULL};
    for (uint32_t i = 0; i < PATCH_PAGE_WORDS; i++) {
        page[i] = (uint32_t)rng_next(&rng);
    }
    memset(test.seen, 0, sizeof test.seen);
    test.runs = test.leaves = test.leaf_events = test.block_count = 0;
    observe_leaves_tell(&out, &leaf, 1);
    assert_int_equal(test.runs, 0);
    assert_int_equal(test.leaves, 64);
    assert_int_equal(test.leaf_events, 1);
}

/* What another thread does in a callback, with locks of the driver that we may be waiting for. */
static void *unload_another(void *unused)
{
    observe_modules_remove((CUmodule)(uintptr_t)4096);
    return NULL;
}

static uint32_t find_pc(CUmodule module, const char *name, uint64_t *pc, uint64_t *size)
{
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 20;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, unload_another, NULL), 0);
    assert_int_equal(pthread_timedjoin_np(thread, NULL, &limit), 0);
    *pc = *name == 'k' ? UINT64_C(0x7f0000001000) : UINT64_C(0x7f0000009000);
    *size = 64;
    return SANITIZER_OK;
}

static uint32_t leaf_of(uint64_t address)
{
    return (uint32_t)(address >> 2 >> (PATCH_WORD_SHIFT + PATCH_LEAF_SHIFT));
}

static uint32_t parts_of(uint64_t address)
{
    uint32_t word = (uint32_t)(address >> 2 >> PATCH_WORD_SHIFT) % PATCH_PAGE_WORDS;
    return PATCH_PARTS(leaf_of(address), word);
}

static void touch(struct observe_parts *parts, uint64_t address)
{
    uint32_t bits = parts_of(address);
    parts->rows[__builtin_ctz(bits)] |= (uint16_t)(bits >> 16);
}

/* A long name is cut, between characters. */
static void assert_names_are_cut(CUmodule module)
{
    char name[120] = {0};
    bool is_new = false;
    const struct sanitizer_launch_data launch = {
        .module = module, .function = (CUfunction)(uintptr_t)32, .name = "cut"};
    memset(name, 'n', 94);
    for (size_t at = 94; at < 118; at += 2) {
        memcpy(name + at, "\xd1\x88", 2);
    }
    const struct observed_kernel *kernel = observe_kernel_find(&launch, name, &is_new);
    assert_true(kernel && is_new);
    assert_int_equal(strlen(kernel->name), 94);
    assert_memory_equal(kernel->name, name, 94);
}

/* Two kernels' instructions on two blocks, one of them by a function that both may call: the
 * candidates of a block are those that touched it. */
static void candidates(void **state)
{
    static const struct sanitizer_api api = {.get_function_pc_and_size = find_pc};
    static struct patch_launch record;
    struct observe_plan plan;
    struct cubin_file file;
    struct observe_parts first = {{0}}, second = {{0}};
    const uint64_t code[8] = {0};
    const uint64_t one = BASE, two = BASE + (UINT64_C(5) << 20) + 4096;
    char folder[TEMPORARY_ROOM], path[TEMPORARY_ROOM + 64];
    temporary_name(folder, "streamsan-cubins");
    assert_non_null(mkdtemp(folder));
    cubin_file_make(&file, code, code, ".debug_line");
    observe_plan_init(&plan);
    assert_true(stack_open(&test.sink));
    observe_modules_start(&api, &plan, folder, &test.sink);
    struct sanitizer_module_data data = {.module = (CUmodule)(uintptr_t)8,
                                         .cubin_size = file.size,
                                         .cubin = (const char *)file.bytes};
    assert_non_null(observe_modules_add(&data));
    struct sanitizer_launch_data launch = {
        .module = data.module, .function = (CUfunction)(uintptr_t)16, .name = "k"};
    bool is_new = false;
    struct observed_kernel *kernel = observe_kernel_find(&launch, "k", &is_new);
    assert_true(kernel && is_new && observe_kernel_has_lines(kernel) && kernel->is_known);
    struct sanitizer_launch_data unknown = {
        .module = data.module, .function = (CUfunction)(uintptr_t)24, .name = "not there"};
    const struct observed_kernel *stranger = observe_kernel_find(&unknown, "not there", &is_new);
    assert_true(stranger && !stranger->is_known);
    assert_string_equal(stranger->name, "not there");
    assert_names_are_cut(data.module);
    assert_ptr_equal(observe_kernel_find(&launch, "k", &is_new), kernel);
    assert_false(is_new);
    const struct {
        uint64_t pc, address;
        uint32_t kind;
    } entries[] = {{UINT64_C(0x7f0000001010), one, 1},
                   {UINT64_C(0x7f0000001020), two, 1},
                   {UINT64_C(0x7f0000009030), two, 1},
                   {UINT64_C(0x7f0000001030), two, 3},
                   {UINT64_C(0x7f0000002000), two, 1}};
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        record.entries[7 * i].key = (uint64_t)PATCH_CODE(entries[i].pc, entries[i].kind) << 32 |
                                    leaf_of(entries[i].address) >> PATCH_SPAN_SHIFT;
        record.entries[7 * i].parts = parts_of(entries[i].address);
    }
    touch(&first, one);
    touch(&second, two);
    struct observe_sites sites = {kernel, &record};
    uint32_t id = observe_sites_find(&sites, 1, one, one + 4096, &first);
    const uint64_t module = UINT64_C(32768) << 48;
    assert_int_equal(test.site_sizes[id], 1);
    assert_true(test.site_frames[id][0] == (module | UINT64_C(1) << 32 | 0x10));
    id = observe_sites_find(&sites, 1, two, two + 4096, &second);
    assert_int_equal(test.site_sizes[id], 2);
    assert_true(test.site_frames[id][0] == (module | UINT64_C(1) << 32 | 0x20));
    assert_true(test.site_frames[id][1] == (module | UINT64_C(2) << 32 | 0x30));
    assert_int_equal(observe_sites_find(&sites, 5, two, two + 4096, &second), 0);
    /* In a window, too; what is only guessed was not there. */
    struct patch_site *site = &record.sites[2];
    site->head = (one >> PATCH_WINDOW_SHIFT) << 32 | PATCH_CODE(entries[1].pc, 1) | PATCH_GUESS;
    site->base = UINT64_C(1) << 48;
    id = observe_sites_find(&sites, 1, one, one + 4096, &first);
    assert_int_equal(test.site_sizes[id], 1);
    site->head ^= PATCH_GUESS;
    id = observe_sites_find(&sites, 1, one, one + 4096, &first);
    assert_int_equal(test.site_sizes[id], 2);
    record.unlisted = 1;
    assert_int_equal(observe_sites_find(&sites, 1, two, two + 4096, &second), 0);
    /* what can't be saved is a loss of its lines */
    assert_int_equal(test.lost_stacks, 0);
    snprintf(path, sizeof path, "%s/cubin-%d.2", folder, (int)getpid());
    assert_int_equal(mkdir(path, 0700), 0);
    struct sanitizer_module_data second_data = data;
    second_data.module = (CUmodule)(uintptr_t)9;
    assert_non_null(observe_modules_add(&second_data));
    assert_int_equal(test.lost_stacks, 1);
    assert_int_equal(rmdir(path), 0);
    observe_modules_remove(data.module);
    assert_ptr_not_equal(observe_kernel_find(&launch, "k", &is_new), kernel);
    stack_close();
    snprintf(path, sizeof path, "%s/cubin-%d.1", folder, (int)getpid());
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_are_told),
        cmocka_unit_test(crowded_words_go_together),
        cmocka_unit_test(candidates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
