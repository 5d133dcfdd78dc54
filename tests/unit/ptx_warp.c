/* Operations among the lanes of a warp where lanes name different members, come late, or never. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/ptx_support.h"

/* l1 points at the lane's word, r2 is its number, r4 the mask of its tile of 8 lanes; p0 holds for
 * lanes from 12 on. */
#define KERNEL                                                                                     \
    ".version 7.0\n.target sm_70\n.address_size 64\n"                                              \
    ".visible .entry k(.param .u64 out)\n{\n"                                                      \
    ".reg .b32 r<16>; .reg .b64 l<4>; .reg .pred p<8>;\n"                                          \
    "ld.param.u64 l0, [out]; mov.u32 r2, %tid.x; mul.wide.u32 l1, r2, 4; add.u64 l1, l0, l1;\n"    \
    "and.b32 r3, r2, 24; mov.u32 r4, 255; shl.b32 r4, r4, r3; setp.ge.u32 p0, r2, 12;\n"

#define LANES 32u

static void run_warp(struct run *run, const char *body)
{
    const uint64_t out = (uint64_t)(uintptr_t)run->words;
    run_kernel(run, KERNEL, body, 1, LANES, &out, PTX_DONE);
}

/* Votes, matches and reductions of four tiles in one instruction. */
static void tiles_keep_to_themselves(void **state)
{
    struct run run;
    run_warp(&run,
             "setp.lt.u32 p1, r2, 10; vote.sync.ballot.b32 r5, p1, r4; st.global.u32 [l1], r5;\n"
             "vote.sync.any.pred p2, p1, r4; vote.sync.all.pred p3, p1, r4;\n"
             "selp.u32 r5, 1, 0, p2; selp.u32 r6, 2, 0, p3; add.u32 r5, r5, r6;\n"
             "st.global.u32 [l1+128], r5; and.b32 r7, r2, 1;\n"
             "match.any.sync.b32 r5, r7, r4; st.global.u32 [l1+256], r5;\n"
             "redux.sync.add.u32 r5, r2, r4; st.global.u32 [l1+384], r5; ret;");
    for (uint32_t i = 0; i < LANES; i++) {
        const uint32_t tile = 0xffu << (i & 24), first = i & 24;
        assert_int_equal(run.words[i], 0x3ffu & tile);
        assert_int_equal(run.words[LANES + i], first == 0 ? 3 : first == 8 ? 1 : 0);
        assert_int_equal(run.words[2 * LANES + i], (i & 1 ? 0xaaaaaaaau : 0x55555555u) & tile);
        assert_int_equal(run.words[3 * LANES + i], 8 * first + 28);
    }
    run_end(&run);
}

/* Half of a tile comes later than the other, by a jump back: it is waited for, and the tile that is
 * there goes on. */
static void half_a_tile_waits_for_the_other(void **state)
{
    struct run run;
    run_warp(&run, "add.u32 r5, r2, 100; @p0 bra Far;\n"
                   "Meet: shfl.sync.bfly.b32 r6, r5, 7, 31, r4; st.global.u32 [l1], r6; ret;\n"
                   "Far: add.u32 r5, r5, 1000; bra Meet;");
    for (uint32_t i = 0; i < LANES; i++) {
        const uint32_t partner = i ^ 7;
        assert_int_equal(run.words[i], partner + (partner >= 12 ? 1100 : 100));
    }
    run_end(&run);
}

static void half_a_tile_is_waited_for_at_a_barrier(void **state)
{
    struct run run;
    run_warp(&run, "xor.b32 r7, r2, 7; mul.wide.u32 l2, r7, 4; add.u64 l2, l0, l2; @p0 bra Far;\n"
                   "Meet: add.u32 r5, r2, 1; st.volatile.global.u32 [l1], r5; bar.warp.sync r4;\n"
                   "ld.volatile.global.u32 r6, [l2]; st.global.u32 [l1+128], r6; ret;\n"
                   "Far: bra Meet;");
    for (uint32_t i = 0; i < LANES; i++) {
        assert_int_equal(run.words[LANES + i], (i ^ 7) + 1);
    }
    run_end(&run);
}

/* Lanes that come by a jump back join those that wait, for the whole warp's sake. */
static void lanes_that_wait_at_one_place_are_together(void **state)
{
    struct run run;
    run_warp(&run, "and.b32 r7, r2, 1; @p0 bra Far;\n"
                   "Meet: match.any.sync.b32 r5, r7, -1; st.global.u32 [l1], r5; ret;\n"
                   "Far: and.b32 r8, r2, 4; setp.ne.u32 p1, r8, 0; @p1 bra Meet; bra Meet;");
    for (uint32_t i = 0; i < LANES; i++) {
        assert_int_equal(run.words[i], i & 1 ? 0xaaaaaaaau : 0x55555555u);
    }
    run_end(&run);
}

/* Lane 31 leaves, and lanes 0 to 7 no longer wait for it: the others still wait for them. */
static void only_those_go_on_whose_members_left(void **state)
{
    struct run run;
    run_warp(&run, "setp.eq.u32 p1, r2, 31; @p1 bra Leave; setp.lt.u32 p2, r2, 8; @p2 bra Some;\n"
                   "All: setp.eq.u32 p3, r2, r2; vote.sync.ballot.b32 r5, p3, 0x7fffffff;\n"
                   "st.global.u32 [l1], r5; ret;\n"
                   "Some: shfl.sync.idx.b32 r5, r2, 0, 31, 0x800000ff; bra All;\n"
                   "Leave: ret;");
    for (uint32_t i = 0; i < LANES - 1; i++) {
        assert_int_equal(run.words[i], 0x7fffffffu);
    }
    run_end(&run);
}

/* Members that can't come are told, by the first operation that went on without them; those that
 * have left, or come late, are not missed. */
static void lacking_lanes_are_told(void **state)
{
    static const struct {
        const char *body;
        bool is_lacking;
    } rows[] = {
        {"@p0 bra Wait; shfl.sync.bfly.b32 r5, r2, 1, 31, -1; Wait: bar.sync 0; ret;", true},
        {"@p0 bra Wait; vote.sync.ballot.b32 r5, p0, -1; Wait: bar.sync 0; ret;", true},
        {"@p0 bra Wait; bar.warp.sync -1; Wait: bar.sync 0; ret;", true},
        {"@p0 bra Other; shfl.sync.bfly.b32 r5, r2, 1, 31, -1; ret;\n"
         "Other: shfl.sync.bfly.b32 r6, r2, 1, 31, -1; ret;",
         true},
        {"@p0 bra Leave; shfl.sync.bfly.b32 r5, r2, 1, 31, -1; Leave: ret;", false},
        {"@p0 bra Late; Meet: bar.warp.sync -1; shfl.sync.bfly.b32 r5, r2, 1, 31, -1; ret;\n"
         "Late: bra Meet;",
         false},
        {"shfl.sync.bfly.b32 r5, r2, 1, 31, r4; bar.warp.sync r4; bar.sync 0; ret;", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct run run;
        run_warp(&run, rows[i].body);
        if ((ptx_exec_lacking(run.exec) != NULL) != rows[i].is_lacking) {
            fail_msg("row %zu", i);
        }
        run_end(&run);
    }
}

/* Clang gives match.sync.b64 a register of 64 bits. */
static void results_fit_wider_registers(void **state)
{
    struct run run;
    run_warp(&run,
             "and.b32 r5, r2, 1; cvt.u64.u32 l2, r5; match.any.sync.b64 l3, l2, -1;\n"
             "cvt.u32.u64 r6, l3; shr.u64 l3, l3, 32; cvt.u32.u64 r7, l3; add.u32 r6, r6, r7;\n"
             "st.global.u32 [l1], r6; setp.lt.u32 p1, r2, 5; vote.sync.ballot.b32 l3, p1, -1;\n"
             "cvt.u32.u64 r6, l3; st.global.u32 [l1+128], r6; activemask.b32 l3;\n"
             "cvt.u32.u64 r6, l3; st.global.u32 [l1+256], r6;\n"
             "shfl.sync.idx.b32 l3, r2, 6, 31, -1; st.global.u64 [l0+384], l3; ret;");
    for (uint32_t i = 0; i < LANES; i++) {
        assert_int_equal(run.words[i], i & 1 ? 0xaaaaaaaau : 0x55555555u);
        assert_int_equal(run.words[LANES + i], 0x1f);
        assert_int_equal(run.words[2 * LANES + i], 0xffffffffu);
    }
    assert_int_equal(run.words[3 * LANES], 6);
    assert_int_equal(run.words[3 * LANES + 1], 0);
    run_end(&run);
}

/* An index that wraps at 32 bits, as unsigned arithmetic of a program gives it. */
static void addresses_of_shared_memory_have_32_bits(void **state)
{
    struct run run;
    run_warp(&run,
             ".shared .align 4 .b8 sm[128]; mov.u64 l2, sm; mul.wide.u32 l3, r2, 4;\n"
             "add.u64 l2, l2, l3; st.shared.u32 [l2], r2; bar.sync 0;\n"
             "add.u64 l2, l2, 0x300000000; ld.shared.u32 r5, [l2]; st.global.u32 [l1], r5; ret;");
    for (uint32_t i = 0; i < LANES; i++) {
        assert_int_equal(run.words[i], i);
    }
    run_end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_keep_to_themselves),
        cmocka_unit_test(half_a_tile_waits_for_the_other),
        cmocka_unit_test(half_a_tile_is_waited_for_at_a_barrier),
        cmocka_unit_test(lanes_that_wait_at_one_place_are_together),
        cmocka_unit_test(only_those_go_on_whose_members_left),
        cmocka_unit_test(lacking_lanes_are_told),
        cmocka_unit_test(results_fit_wider_registers),
        cmocka_unit_test(addresses_of_shared_memory_have_32_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
