/* Reports with witnesses, as `witness` makes them. */
#include "golden/fixtures_parts.h"

static void set_witness(struct report *report, struct finding *finding, struct witness witness)
{
    struct witness *copy = fixtures_make(report, sizeof *copy);
    *copy = witness;
    finding->witness = copy;
}

static void add_without(struct report *report)
{
    static const char *const ids[] = {"0000aaaa", "0000bbbb", "0000cccc", "0000dddd", "0000eeee",
                                      "0000ffff", "1111aaaa", "1111bbbb", "1111cccc", "1111dddd"};
    static const enum witness_kind kinds[] = {
        WITNESS_ORDERED,  WITNESS_ALWAYS,    WITNESS_CALL,    WITNESS_INFEASIBLE, WITNESS_MISSED,
        WITNESS_DIVERGED, WITNESS_PROCESSES, WITNESS_NO_TIME, WITNESS_FAILED,     WITNESS_NO_GATE};
    size_t i;
    for (i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct finding *finding = fixtures_add_finding(report, ids[i], CHECK_RAW, 1, 3);
        fixtures_add_ranges(report, finding, 0, 16384, 1);
        finding->first.access = SSAN_access_WRITE;
        finding->ordered_by = kinds[i] == WITNESS_ORDERED ? "R-IMPL-4" : NULL;
        set_witness(report, finding,
                    (struct witness){
                        .kind = kinds[i],
                        .detail = kinds[i] == WITNESS_INFEASIBLE
                                      ? "s1.7 is due and was not submitted"
                                  : kinds[i] == WITNESS_FAILED ? "out of memory"
                                  : kinds[i] == WITNESS_NO_GATE
                                      ? "none comes before the operation that would have to wait"
                                      : NULL,
                        .memory.buffer = -1});
    }
}

/* On a GPU: the operation itself is held; another kernel before it, for a later instance. */
static void add_gates(struct report *report)
{
    static const char *const replay[] = {"streamsan", "run", "--device",   "gpu", "--gate",
                                         "s1.2:s2.1", "--",  "./handover", NULL};
    struct witness witness = {.kind = WITNESS_SHOWN,
                              .held = "s1.2",
                              .held_name = "scale",
                              .until = "s2.1",
                              .exit = {true, false, 2, 0, 0, 0},
                              .output = {true, 1, "mismatches=4095", "mismatches=0"},
                              .memory.buffer = -1,
                              .replay = replay,
                              .reproduced = 10,
                              .repeats = 10};
    struct finding *finding = fixtures_add_finding(report, "00003333", CHECK_RAW, 1, 3);
    fixtures_add_ranges(report, finding, 0, 16384, 1);
    finding->first.access = SSAN_access_WRITE;
    set_witness(report, finding, witness);
    finding = fixtures_add_finding(report, "00004444", CHECK_RAW, 1, 3);
    fixtures_add_ranges(report, finding, 0, 16384, 1);
    finding->first.access = SSAN_access_WRITE;
    witness.kind = WITNESS_SILENT;
    witness.held = "s1.7";
    witness.held_name = "prepare";
    witness.until = "s2.3";
    witness.exit.differs = witness.output.differs = false;
    witness.replay = NULL;
    set_witness(report, finding, witness);
}

void fixture_witnesses(struct report *report)
{
    static const char *const order[] = {"s1.1", "s2.1", "s2.2", "s1.2", "s1.3"};
    static const char *const replay[] = {
        "streamsan", "run",  "--schedule", "order:s1.1,s2.1,s2.2,s1.2,s1.3", "--", "./handover",
        "--name",    "it's", NULL};
    static const struct diagnosis_wait wait = {
        {.file = FILE_NAME, .line = 32}, "scale", "producer"};
    static const struct diagnosis diagnosis = {.wrong = true,
                                               .cured = true,
                                               .smallest = true,
                                               .waits = &wait,
                                               .wait_count = 1,
                                               .tried = 4};
    struct finding *finding;
    fixture_handover(report);
    finding = report->findings[0];
    set_witness(report, finding,
                (struct witness){.kind = WITNESS_SHOWN,
                                 .order = order,
                                 .order_count = 5,
                                 .exit = {true, false, 2, 0, 0, 0},
                                 .output = {true, 3, "mismatches\t4095", "mismatches\t0"},
                                 .memory = {0, 1, 8190, "f32", "2", "3"},
                                 .replay = replay,
                                 .reproduced = 9,
                                 .repeats = 10});
    finding = fixtures_add_finding(report, "00001111", CHECK_WAW, 1, 3);
    fixtures_add_ranges(report, finding, 0, 16384, 1);
    finding->first.access = finding->then.access = SSAN_access_WRITE;
    set_witness(report, finding,
                (struct witness){.kind = WITNESS_SILENT,
                                 .memory.buffer = -1,
                                 .replay = replay,
                                 .reproduced = 1,
                                 .repeats = 1});
    finding = fixtures_add_finding(report, "00002222", CHECK_RAW, 1, 3);
    fixtures_add_ranges(report, finding, 0, 16384, 1);
    finding->first.access = SSAN_access_WRITE;
    set_witness(report, finding,
                (struct witness){.kind = WITNESS_SHOWN,
                                 .exit = {true, true, 137, 9, 0, 0},
                                 .memory = {0, 7, 1, "f32", "nan", "3"},
                                 .replay = replay,
                                 .reproduced = 1,
                                 .repeats = 1});
    add_gates(report);
    add_without(report);
    report->diagnosis = &diagnosis;
}
