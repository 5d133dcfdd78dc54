/* A contract carried out with a script in the place of streamsan, while allocation after allocation
 * fails: it never holds when it should not, and never is broken when it is not. With
 * STREAMSAN_TEST_ALL each allocation fails, else each STEP-th. */
#include "contract/contract.h"
#include "contract/tree.h"

#include "base/file.h"
#include "base/mem.h"
#include "support/temporary.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <jansson.h>
#include <string.h>
#include <sys/stat.h>

#define STEP 23

/* Writes the report of a run that is clean; with -DFAULT in the build one that has a finding. */
static const char tool[] =
    "#!/bin/sh\n"
    "finding=\n"
    "[ -z \"$FAULT\" ] || finding='{\"rule\":\"SSAN-RAW\",\"severity\":\"error\",\"message\":\"m\","
    "\"then\":{\"op\":\"s1.1\"},\"folded\":[]}'\n"
    "verdict=clean\n"
    "[ -z \"$FAULT\" ] || verdict=errors\n"
    "code=0\n"
    "case \" $* \" in *\" -q \"*) code=3;; esac\n"
    "echo "
    "\"{\\\"run\\\":{\\\"exit\\\":{\\\"code\\\":$code,\\\"signal\\\":null},\\\"complete\\\":true,"
    "\\\"infeasible\\\":null},\\\"operations\\\":[],\\\"findings\\\":[$finding],"
    "\\\"summary\\\":{\\\"verdict\\\":\\\"$verdict\\\"}}\" >report.json\n"
    "echo mismatches=0\n";

static const char *const checks[] = {"SSAN-RAW"};
static char base[TEMPORARY_ROOM], tool_path[TEMPORARY_ROOM + 64];
static char spec_path[TEMPORARY_ROOM + 64];

static const char spec_holds[] =
    "name: n\nbuild: {command: [cp, ../contract.yaml, \"{program}\"]}\nmatrix: {sizes: [1, 2]}\n"
    "expect: {values: [{key: mismatches, equals: 0}]}\n"
    "faults:\n- {name: f, options: [-q], caught: {exit_code: [3]}}\n";
static const char spec_broken[] =
    "name: n\nbuild: {command: [cp, ../contract.yaml, \"{program}\"]}\nmatrix: {sizes: [1, 2]}\n"
    "run: {environment: [\"FAULT=1\"]}\n"
    "expect: {values: [{key: mismatches, equals: 0}]}\n"
    "faults:\n- {name: f, options: [-q], caught: {exit_code: [4]}}\n";

/* Carries it out in a new folder; `*printed` is the result as JSON, "" when there is none. */
static enum ssan_status carry_out(const char *text, enum contract_state *state,
                                  struct strbuf *printed)
{
    const struct plan_options plan_options = {
        .tool = tool_path, .nvcc = "nvcc", .folder = base, .spec_name = "contract"};
    char work[TEMPORARY_ROOM + 64];
    const struct contract_options options = {
        .plan = &plan_options, .work = work, .spec_path = spec_path, .jobs = 3};
    struct spec spec;
    struct contract_plan plan = {.arena = {0}};
    struct contract_result result = {.spec = NULL};
    snprintf(work, sizeof work, "%s/work", base);
    mkdir(work, 0700);
    enum ssan_status status = spec_parse(&spec, "contract", text, strlen(text), checks, 1, NULL);
    if (status == SSAN_OK) {
        status = contract_plan_fill(&plan, &spec, &plan_options, NULL);
    }
    if (status == SSAN_OK) {
        status = contract_run(&result, &spec, &plan, &options, NULL);
    }
    if (status == SSAN_OK) {
        *state = result.state;
        if (!contract_print_json(printed, &result)) {
            status = SSAN_NO_MEMORY;
        }
        contract_print_text(printed, &result, true, true);
    }
    contract_result_finish(&result);
    contract_plan_finish(&plan);
    spec_finish(&spec);
    file_remove_tree(work);
    return status;
}

static void sweep(const char *text, enum contract_state usual)
{
    const unsigned step = getenv("STREAMSAN_TEST_ALL") ? 1 : STEP;
    enum contract_state state = usual;
    struct strbuf printed = {0};
    assert_int_equal(carry_out(text, &state, &printed), SSAN_OK);
    assert_int_equal(state, usual);
    strbuf_finish(&printed);
    for (int once = 0; once < 2; once++) {
        unsigned failed = 0;
        for (uint64_t nth = 1;; nth += step) {
            if (once) {
                mem_fail_once(nth);
            } else {
                mem_fail_at(nth);
            }
            state = usual;
            const enum ssan_status status = carry_out(text, &state, &printed);
            const bool done = mem_count() < nth;
            mem_fail_at(0);
            strbuf_finish(&printed);
            assert_true(status == SSAN_NO_MEMORY || status == SSAN_IO || status == SSAN_OK);
            assert_true(state == usual || state == CONTRACT_UNFINISHED);
            failed += status != SSAN_OK;
            if (done) {
                break;
            }
        }
        assert_true(failed > 5);
    }
}

static void holds(void **state)
{
    (void)state;
    sweep(spec_holds, CONTRACT_HOLDS);
}

static void broken(void **state)
{
    (void)state;
    sweep(spec_broken, CONTRACT_BROKEN);
}

static int setup(void **state)
{
    (void)state;
    json_set_alloc_funcs(mem_alloc, mem_free);
    temporary_name(base, "ssan-contract");
    assert_non_null(mkdtemp(base));
    snprintf(tool_path, sizeof tool_path, "%s/tool", base);
    snprintf(spec_path, sizeof spec_path, "%s/contract.yaml", base);
    assert_int_equal(tree_write(tool_path, tool, strlen(tool), NULL), SSAN_OK);
    assert_int_equal(tree_write(spec_path, spec_holds, strlen(spec_holds), NULL), SSAN_OK);
    return chmod(tool_path, 0755);
}

static int teardown(void **state)
{
    (void)state;
    file_remove_tree(base);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(holds), cmocka_unit_test(broken)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
