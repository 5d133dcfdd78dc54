/* The executor: divergence, barriers, spinning warps, faults, stuck launches, clocks, printf,
 * calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/ptx_support.h"

#include <string.h>

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"
#define KERNEL                                                                                     \
    HEAD ".visible .entry k(.param .u64 out, .param .u32 n)\n{\n"                                  \
         ".reg .b32 r<16>, %x; .reg .b64 l<16>; .reg .f32 f<4>; .reg .pred p<8>;\n"                \
         "ld.param.u64 l0, [out]; ld.param.u32 r0, [n]; mov.u32 r1, %tid.x; mul.wide.u32 l1, r1, " \
         "4; add.u64 l1, l0, l1;\n"

struct params {
    uint64_t out;
    uint32_t n;
};

/* Runs KERNEL + body + "}" with one array of words. */
static void run_start(struct run *run, const char *body, uint32_t grid, uint32_t block, uint32_t n,
                      enum ptx_state expected)
{
    const struct params params = {(uint64_t)(uintptr_t)run->words, n};
    run_kernel(run, KERNEL, body, grid, block, &params, expected);
}

/* Each lane loops its own number of times, with a branch inside; counts steps of 3n+1. */
static void divergent_loops_give_each_lane_its_result(void **state)
{
    struct run run;
    run_start(&run,
              "add.u32 r2, r1, 1; mov.u32 r3, 0;\n"
              "Loop: setp.eq.u32 p0, r2, 1; @p0 bra Done; and.b32 r4, r2, 1; setp.eq.u32 p1, r4, "
              "0; @p1 bra Even;\n"
              "mad.lo.u32 r2, r2, 3, 1; bra Next; Even: shr.u32 r2, r2, 1; Next: add.u32 r3, r3, "
              "1; bra Loop;\n"
              "Done: st.global.u32 [l1], r3; ret;",
              1, 256, 0, PTX_DONE);
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t steps = 0;
        for (uint64_t n = i + 1; n != 1; n = n % 2 ? 3 * n + 1 : n / 2) {
            steps++;
        }
        assert_int_equal(run.words[i], steps);
    }
    run_end(&run);
}

/* Lanes of one warp meet again behind a branch: activemask shows all of them. */
static void lanes_meet_behind_a_branch(void **state)
{
    struct run run;
    run_start(
        &run,
        "and.b32 r2, r1, 1; setp.eq.u32 p0, r2, 0; @p0 bra Even; activemask.b32 r3; bra Join;\n"
        "Even: activemask.b32 r3; Join: activemask.b32 r4; xor.b32 r3, r3, r4; st.global.u32 [l1], "
        "r3; ret;",
        1, 32, 0, PTX_DONE);
    for (uint32_t i = 0; i < 32; i++) {
        assert_int_equal(run.words[i], i % 2 ? 0x55555555 : 0xaaaaaaaa);
    }
    run_end(&run);
}

/* Reversal through shared memory in a block of 200 threads, of which some have left. */
static void barrier_waits_for_the_living(void **state)
{
    struct run run;
    run_start(
        &run,
        ".shared .align 4 .b8 sm[1024];\n"
        "setp.ge.u32 p0, r1, r0; @p0 exit;\n"
        "mov.u64 l2, sm; mul.wide.u32 l3, r1, 4; add.u64 l3, l2, l3; st.shared.u32 [l3], r1; "
        "bar.sync 0;\n"
        "sub.u32 r3, r0, r1; add.s32 r3, r3, -1; mul.wide.u32 l3, r3, 4; add.u64 l3, l2, l3;\n"
        "ld.shared.u32 r4, [l3]; st.global.u32 [l1], r4; ret;",
        2, 200, 77, PTX_DONE);
    for (uint32_t i = 0; i < 77; i++) {
        assert_int_equal(run.words[i], 76 - i);
    }
    run_end(&run);
}

static void barrier_reduces_over_the_block(void **state)
{
    struct run run;
    run_start(&run,
              "setp.lt.u32 p0, r1, r0; bar.red.popc.u32 r2, 0, p0; bar.red.and.pred p1, 1, p0; "
              "bar.red.or.pred p2, 2, p0;\n"
              "selp.u32 r3, 1000, 0, p1; selp.u32 r4, 2000, 0, p2; add.u32 r2, r2, r3; add.u32 r2, "
              "r2, r4;\n"
              "st.global.u32 [l1], r2; ret;",
              1, 96, 50, PTX_DONE);
    for (uint32_t i = 0; i < 96; i++) {
        assert_int_equal(run.words[i], 2050);
    }
    run_end(&run);
}

/* Producer warps arrive, consumers wait: named barrier with a count. */
static void arriving_does_not_wait(void **state)
{
    struct run run;
    run_start(
        &run,
        ".shared .align 4 .b8 sm[256]; mov.u64 l2, sm; setp.lt.u32 p0, r1, 32; @p0 bra Wait;\n"
        "sub.u32 r2, r1, 32; mul.wide.u32 l3, r2, 4; add.u64 l3, l2, l3; st.shared.u32 [l3], r1; "
        "bar.arrive 3, 64; ret;\n"
        "Wait: bar.sync 3, 64; mul.wide.u32 l3, r1, 4; add.u64 l3, l2, l3; ld.shared.u32 r3, [l3]; "
        "st.global.u32 [l1], r3; ret;",
        1, 64, 0, PTX_DONE);
    for (uint32_t i = 0; i < 32; i++) {
        assert_int_equal(run.words[i], i + 32);
    }
    run_end(&run);
}

/* All lanes of all warps take one lock by compare-and-swap; lanes of the holder's warp spin
 * meanwhile. */
static void locks_inside_a_warp_make_progress(void **state)
{
    struct run run;
    run_start(
        &run,
        "Try: atom.global.cas.b32 r2, [l0], 0, 1; setp.ne.u32 p0, r2, 0; @p0 bra Try;\n"
        "ld.volatile.global.u32 r3, [l0+4]; add.u32 r3, r3, 1; st.volatile.global.u32 [l0+4], r3;\n"
        "membar.gl; atom.global.exch.b32 r2, [l0], 0; ret;",
        1, 64, 0, PTX_DONE);
    assert_int_equal(run.words[1], 64);
    run_end(&run);
}

/* A warp waits for a flag that a later warp of the block sets; then one block for another. */
static void later_warps_and_blocks_are_let_run(void **state)
{
    struct run run;
    run_start(&run,
              "setp.ge.u32 p0, r1, 32; @p0 bra Set; Spin: ld.volatile.global.u32 r2, [l0]; "
              "setp.eq.u32 p1, r2, 0; @p1 bra Spin;\n"
              "st.global.u32 [l1+4], r2; ret; Set: st.volatile.global.u32 [l0], 9; ret;",
              1, 64, 0, PTX_DONE);
    assert_int_equal(run.words[1], 9);
    run_end(&run);
    run_start(
        &run,
        "mov.u32 r3, %ctaid.x; setp.ne.u32 p0, r3, 0; @p0 bra Set; Spin: ld.volatile.global.u32 "
        "r2, [l0]; setp.eq.u32 p1, r2, 0;\n"
        "@p1 bra Spin; st.global.u32 [l1+4], r2; ret; Set: st.volatile.global.u32 [l0], 5; ret;",
        2, 32, 0, PTX_DONE);
    assert_int_equal(run.words[1], 5);
    run_end(&run);
}

/* A flag that nobody sets: stuck, with the word and the line; set from outside, the launch ends. */
static void spinning_for_ever_is_stuck_until_the_word_changes(void **state)
{
    struct run run;
    run_start(&run,
              "Spin: ld.volatile.global.u32 r2, [l0+8]; setp.eq.u32 p0, r2, 0; @p0 bra Spin; "
              "st.global.u32 [l1+64], r2; ret;",
              1, 32, 0, PTX_STUCK);
    assert_int_equal(ptx_exec_fault(run.exec)->address, (uint64_t)(uintptr_t)&run.words[2]);
    assert_int_equal(ptx_exec_fault(run.exec)->fault, PTX_FAULT_NONE);
    assert_int_equal(ptx_exec_run(run.exec, 0), PTX_STUCK);
    run.words[2] = 3;
    assert_int_equal(ptx_exec_run(run.exec, 0), PTX_DONE);
    assert_int_equal(run.words[16], 3);
    run_end(&run);
}

static void a_barrier_that_cannot_fill_is_stuck(void **state)
{
    struct run run;
    run_start(&run, "setp.lt.u32 p0, r1, 32; @p0 bar.sync 1, 128; @p0 ret; bar.sync 2, 128; ret;",
              1, 64, 0, PTX_STUCK);
    run_end(&run);
}

/* Long computing without memory is progress. */
static void computing_long_is_not_stuck(void **state)
{
    struct run run;
    run_start(&run,
              "mov.u32 r2, 0; mov.u32 r3, 1; Loop: mad.lo.u32 r3, r3, 1664525, 1013904223; add.u32 "
              "r2, r2, 1;\n"
              "setp.lt.u32 p0, r2, 600000; @p0 bra Loop; st.global.u32 [l1], r2; ret;",
              1, 32, 0, PTX_DONE);
    assert_int_equal(run.words[31], 600000);
    run_end(&run);
}

static void waiting_for_the_clock_ends(void **state)
{
    struct run run;
    run_start(&run,
              "mov.u64 l2, %clock64; Loop: mov.u64 l3, %clock64; sub.u64 l4, l3, l2; setp.lt.u64 "
              "p0, l4, 2000000000;\n"
              "@p0 bra Loop; st.global.u32 [l1], 1; ret;",
              1, 32, 0, PTX_DONE);
    assert_int_equal(run.words[0], 1);
    assert_true(run.device.clock >= 2000000000);
    assert_true(ptx_exec_instructions(run.exec) < 1000000);
    run_end(&run);
}

static void check_fault(const char *body, uint32_t n, enum ptx_fault fault, uint64_t offset,
                        uint32_t thread)
{
    struct run run;
    run_start(&run, body, 2, 64, n, PTX_FAULTED);
    const struct ptx_fault_info *info = ptx_exec_fault(run.exec);
    assert_int_equal(info->fault, fault);
    if (offset) {
        assert_int_equal(info->address, (uint64_t)(uintptr_t)run.words + offset);
    }
    assert_int_equal(info->thread[0], thread);
    assert_int_equal(info->block[0], 0);
    assert_int_equal(ptx_exec_run(run.exec, 0), PTX_FAULTED);
    run_end(&run);
}

static void faults_name_lane_and_address(void **state)
{
    /* thread 40 leaves the array */
    check_fault("setp.eq.u32 p0, r1, 40; @p0 add.u64 l1, l0, 4096; st.global.u32 [l1], r1; ret;", 0,
                PTX_FAULT_ILLEGAL_ADDRESS, 4096, 40);
    check_fault("setp.eq.u32 p0, r1, 3; @p0 add.u64 l1, l0, 6; ld.global.u32 r2, [l1]; ret;", 0,
                PTX_FAULT_MISALIGNED, 6, 3);
    check_fault("add.u64 l1, l0, 4092; ld.global.v2.u32 {r2, r3}, [l1]; ret;", 0,
                PTX_FAULT_MISALIGNED, 4092, 0);
    check_fault("mov.u64 l1, 0; ld.global.u32 r2, [l1]; ret;", 0, PTX_FAULT_ILLEGAL_ADDRESS, 0, 0);
    check_fault("mov.u64 l1, 0; atom.global.add.u32 r2, [l1], 1; ret;", 0,
                PTX_FAULT_ILLEGAL_ADDRESS, 0, 0);
    check_fault(".shared .b8 sm[64]; mov.u64 l1, sm; ld.shared.u32 r2, [l1+64]; ret;", 0,
                PTX_FAULT_ILLEGAL_ADDRESS, 0, 0);
    check_fault(".local .b8 lm[64]; mov.u64 l1, lm; ld.local.u32 r2, [l1+1048576]; ret;", 0,
                PTX_FAULT_ILLEGAL_ADDRESS, 0, 0);
    check_fault("setp.eq.u32 p0, r1, 33; @p0 trap; ret;", 0, PTX_FAULT_TRAP, 0, 33);
    check_fault("bar.sync 16; ret;", 0, PTX_FAULT_ILLEGAL_INSTRUCTION, 0, 0);
}

static void a_read_only_region_refuses_stores(void **state)
{
    static uint32_t words[64];
    struct device device;
    device_init(&device);
    device_map(&device, words, sizeof words, false);
    struct ptx_module *module =
        module_load(&device, KERNEL "ld.global.u32 r2, [l1]; st.global.u32 [l1], r2; ret;\n}\n");
    const struct params params = {(uint64_t)(uintptr_t)words, 0};
    const struct ptx_launch launch = launch_of(module, "k", 1, 32, &params);
    struct ptx_exec *exec = run_launch(&device, &launch, PTX_FAULTED);
    assert_true(ptx_exec_fault(exec)->is_write);
    ptx_exec_destroy(exec);
    module_drop(module);
    device_finish(&device);
}

/* A dry run observes everything, writes only where something lives, prints nothing, never faults.
 */
static void a_dry_run_skips_what_is_dead(void **state)
{
    static uint32_t words[64];
    struct device device;
    device_init(&device);
    device_map(&device, words, 128, true); /* the second half is dead */
    struct ptx_module *module =
        module_load(&device, KERNEL
                    "ld.global.u32 r2, [l1]; add.u32 r2, r2, 1; st.global.u32 [l1], r2; ret;\n}\n");
    const struct params params = {(uint64_t)(uintptr_t)words, 0};
    struct ptx_launch launch = launch_of(module, "k", 1, 64, &params);
    launch.dry = true;
    struct ptx_exec *exec = run_launch(&device, &launch, PTX_DONE);
    assert_int_equal(words[31], 1);
    assert_int_equal(words[32], 0);
    const struct ptx_access *sets;
    size_t count;
    assert_true(ptx_exec_observed(exec, &sets, &count));
    assert_int_equal(count, 2);
    assert_int_equal(sets[0].runs.count, 1);
    assert_int_equal(sets[0].runs.ptr[0].length, 256);
    ptx_exec_destroy(exec);
    module_drop(module);
    device_finish(&device);
}

#define PRINTF                                                                                     \
    HEAD ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"                 \
         ".extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 "   \
         "d, .param .b64 e);\n"                                                                    \
         ".global .align 1 .b8 format[24] = {37, 100, 32, 37, 46, 50, 102, 32, 37, 115, 32, 37, "  \
         "108, 117, 32, 37, 99, 37, 37, 10, 0};\n"                                                 \
         ".global .align 1 .b8 word[4] = {104, 101, 121, 0};\n"

static void printf_formats_arguments_in_order(void **state)
{
    struct device device;
    device_init(&device);
    struct ptx_module *module = module_load(
        &device, PRINTF
        ".visible .entry k()\n{ .local .align 8 .b8 args[40]; .reg .b64 l<4>; .reg .b32 r<4>;\n"
        "mov.u32 r0, %tid.x; st.local.u32 [args], r0; st.local.f64 [args+8], 0d400921FB54442D18;\n"
        "mov.u64 l0, word; cvta.global.u64 l0, l0; st.local.u64 [args+16], l0; st.local.u64 "
        "[args+24], 12345678901;\n"
        "st.local.u32 [args+32], 65; mov.u64 l1, format; cvta.global.u64 l1, l1; mov.u64 l2, args; "
        "cvta.local.u64 l2, l2;\n"
        "{ .param .b64 a0; .param .b64 a1; .param .b32 res; st.param.b64 [a0], l1; st.param.b64 "
        "[a1], l2;\n"
        "call.uni (res), vprintf, (a0, a1); ld.param.b32 r1, [res]; } ret; }\n");
    const struct ptx_launch launch = launch_of(module, "k", 1, 2, NULL);
    ptx_exec_destroy(run_launch(&device, &launch, PTX_DONE));
    assert_string_equal(strbuf_text(&device.printed),
                        "0 3.14 hey 12345678901 A%\n1 3.14 hey 12345678901 A%\n");
    module_drop(module);
    device_finish(&device);
}

static void a_failed_assertion_faults_with_its_text(void **state)
{
    struct device device;
    device_init(&device);
    struct ptx_module *module = module_load(
        &device, PRINTF
        ".visible .entry k()\n{ .reg .b64 l<4>; mov.u64 l0, word; cvta.global.u64 l0, l0;\n"
        "{ .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e; st.param.b64 "
        "[a], l0;\n"
        "st.param.b64 [b], l0; st.param.b32 [c], 7; st.param.b64 [d], l0; st.param.b64 [e], 1;\n"
        "call.uni __assertfail, (a, b, c, d, e); } ret; }\n");
    const struct ptx_launch launch = launch_of(module, "k", 1, 1, NULL);
    struct ptx_exec *exec = run_launch(&device, &launch, PTX_FAULTED);
    assert_int_equal(ptx_exec_fault(exec)->fault, PTX_FAULT_ASSERT);
    assert_string_equal(ptx_exec_fault(exec)->text, "hey:7: hey: assertion `hey' failed");
    ptx_exec_destroy(exec);
    module_drop(module);
    device_finish(&device);
}

/* Recursion with different depth in each lane; each activation has its registers and its .local
 * memory. */
static void recursion_keeps_frames_apart(void **state)
{
    static uint32_t words[64];
    struct device device;
    device_init(&device);
    device_map(&device, words, sizeof words, true);
    struct ptx_module *module = module_load(
        &device,
        HEAD ".func (.param .b32 res) sum(.param .b32 n)\n{ .local .align 4 .b8 mine[4]; .reg .b32 "
             "r<6>; .reg .pred p;\n"
             "ld.param.b32 r0, [n]; st.local.u32 [mine], r0; mov.u32 r1, 0; setp.eq.u32 p, r0, 0; "
             "@p bra Out; sub.u32 r2, r0, 1;\n"
             "{ .param .b32 a; .param .b32 b; st.param.b32 [a], r2; call.uni (b), sum, (a); "
             "ld.param.b32 r1, [b]; }\n"
             "Out: ld.local.u32 r3, [mine]; add.u32 r1, r1, r3; st.param.b32 [res], r1; ret; }\n"
             ".visible .entry k(.param .u64 out)\n{ .reg .b32 r<4>; .reg .b64 l<4>; ld.param.u64 "
             "l0, [out]; mov.u32 r0, %tid.x;\n"
             "mul.wide.u32 l1, r0, 4; add.u64 l1, l0, l1; { .param .b32 a; .param .b32 b; "
             "st.param.b32 [a], r0;\n"
             "call.uni (b), sum, (a); ld.param.b32 r1, [b]; } st.global.u32 [l1], r1; ret; }\n"
             ".func endless()\n{ call.uni endless; ret; }\n"
             ".visible .entry e()\n{ call.uni endless; ret; }\n");
    const uint64_t params = (uint64_t)(uintptr_t)words;
    struct ptx_launch launch = launch_of(module, "k", 1, 64, &params);
    ptx_exec_destroy(run_launch(&device, &launch, PTX_DONE));
    for (uint32_t i = 0; i < 64; i++) {
        assert_int_equal(words[i], i * (i + 1) / 2);
    }
    launch = launch_of(module, "e", 1, 1, NULL);
    ptx_exec_destroy(run_launch(&device, &launch, PTX_FAULTED));
    module_drop(module);
    device_finish(&device);
}

/* Shared layout: two static variables and dynamic memory behind; poison where nothing was stored.
 */
static void shared_memory_is_laid_out_and_poisoned(void **state)
{
    static uint32_t words[8];
    struct device device;
    device_init(&device);
    device_map(&device, words, sizeof words, true);
    struct ptx_module *module =
        module_load(&device, HEAD ".shared .align 4 .b8 unused[4096]; .shared .align 4 .b8 "
                                  "one[12]; .extern .shared .align 16 .b8 dyn[];\n"
                                  ".visible .entry k(.param .u64 out)\n{ .shared .align 8 .b8 "
                                  "two[8]; .reg .b32 r<4>; .reg .b64 l<4>;\n"
                                  "ld.param.u64 l0, [out]; mov.u32 r0, one; mov.u32 r1, two; "
                                  "mov.u32 r2, dyn; ld.shared.u32 r3, [dyn+4];\n"
                                  "st.global.v4.u32 [l0], {r0, r1, r2, r3}; ret; }\n");
    const uint64_t params = (uint64_t)(uintptr_t)words;
    struct ptx_launch launch = launch_of(module, "k", 1, 1, &params);
    assert_int_equal(launch.kernel->shared_bytes, 24);
    launch.dynamic_shared_bytes = 16;
    ptx_exec_destroy(run_launch(&device, &launch, PTX_DONE));
    assert_int_equal(words[0], 0);
    assert_int_equal(words[1], 16);
    assert_int_equal(words[2], 32);
    assert_int_equal(words[3], 0xffffffff);
    module_drop(module);
    device_finish(&device);
}

/* Blocks of three dimensions see their own indices, and a run can be cut between blocks. */
static void indices_of_three_dimensions(void **state)
{
    static uint32_t words[2 * 3 * 2 * 24];
    struct device device;
    device_init(&device);
    device_map(&device, words, sizeof words, true);
    struct ptx_module *module = module_load(
        &device,
        KERNEL "mov.u32 r2, %tid.y; mov.u32 r3, %tid.z; mov.u32 r4, %ntid.x; mov.u32 r5, %ntid.y;\n"
               "mad.lo.u32 r6, r3, r5, r2; mad.lo.u32 r6, r6, r4, r1; mov.u32 r7, %ctaid.z; "
               "mov.u32 r8, %ctaid.y;\n"
               "mov.u32 r9, %nctaid.y; mad.lo.u32 r7, r7, r9, r8; mov.u32 r8, %ctaid.x; mov.u32 "
               "r9, %nctaid.x;\n"
               "mad.lo.u32 r7, r7, r9, r8; mad.lo.u32 r7, r7, 24, r6; mul.wide.u32 l2, r7, 4; "
               "add.u64 l2, l0, l2;\n"
               "st.global.u32 [l2], r7; ret;\n}\n");
    const struct params params = {(uint64_t)(uintptr_t)words, 0};
    struct ptx_launch launch = launch_of(module, "k", 2, 4, &params);
    launch.grid[1] = 3;
    launch.grid[2] = 2;
    launch.block[1] = 3;
    launch.block[2] = 2;
    struct ptx_exec *exec = ptx_exec_create(&device.machine, &launch);
    assert_int_equal(ptx_exec_run(exec, 5), PTX_RUNNING);
    assert_int_equal(words[5 * 24 - 1], 5 * 24 - 1);
    assert_int_equal(words[5 * 24], 0);
    assert_int_equal(ptx_exec_run(exec, 0), PTX_DONE);
    for (uint32_t i = 0; i < sizeof words / 4; i++) {
        assert_int_equal(words[i], i);
    }
    ptx_exec_destroy(exec);
    module_drop(module);
    device_finish(&device);
}

/* Every instruction counts once for each lane that its guard lets execute it, those that became
 * constants included. The branch back counts nine times: the tenth time nobody takes it. */
static void instructions_are_counted(void **state)
{
    struct run run;
    run_start(&run,
              "mov.u32 r2, 0; mov.u32 %x, 5;\n" /* %x is a constant from here on */
              "Loop: add.u32 r2, r2, %x; setp.lt.u32 p0, r2, 50; @p0 bra Loop;\n"
              "setp.lt.u32 p1, r1, 10; @p1 add.u32 r2, r2, 1; st.global.u32 [l1], r2; ret;",
              1, 40, 0, PTX_DONE);
    const uint64_t head = 5, before = 2, loop = 10 * 3 - 1, behind = 3, guarded = 10;
    assert_int_equal(ptx_exec_instructions(run.exec),
                     40 * (head + before + loop + behind) + guarded);
    assert_int_equal(run.words[9], 51);
    assert_int_equal(run.words[10], 50);
    run_end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(divergent_loops_give_each_lane_its_result),
        cmocka_unit_test(lanes_meet_behind_a_branch),
        cmocka_unit_test(barrier_waits_for_the_living),
        cmocka_unit_test(barrier_reduces_over_the_block),
        cmocka_unit_test(arriving_does_not_wait),
        cmocka_unit_test(locks_inside_a_warp_make_progress),
        cmocka_unit_test(later_warps_and_blocks_are_let_run),
        cmocka_unit_test(spinning_for_ever_is_stuck_until_the_word_changes),
        cmocka_unit_test(a_barrier_that_cannot_fill_is_stuck),
        cmocka_unit_test(computing_long_is_not_stuck),
        cmocka_unit_test(waiting_for_the_clock_ends),
        cmocka_unit_test(faults_name_lane_and_address),
        cmocka_unit_test(a_read_only_region_refuses_stores),
        cmocka_unit_test(a_dry_run_skips_what_is_dead),
        cmocka_unit_test(printf_formats_arguments_in_order),
        cmocka_unit_test(a_failed_assertion_faults_with_its_text),
        cmocka_unit_test(recursion_keeps_frames_apart),
        cmocka_unit_test(shared_memory_is_laid_out_and_poisoned),
        cmocka_unit_test(indices_of_three_dimensions),
        cmocka_unit_test(instructions_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
