/* Any text as a contract: refused with a sentence that names the file, or planned: commands for
 * each run, whose words are all there. */
#include "contract/plan.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define RUNS_MOST 2000.0 /* what is planned here: time, not correctness, bounds it */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool so)
{
    if (!so) {
        abort();
    }
}

static double runs_of(const struct spec_over *over, double runs)
{
    const unsigned counts[] = {over->sizes.count, over->slots.count, over->devices.count,
                               over->schedules.count};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        runs *= counts[i] ? counts[i] : 1;
    }
    for (unsigned i = 0; i < over->parameters_count; i++) {
        runs *= over->parameters[i].values.count;
    }
    return runs;
}

/* A bound of the runs of a contract and its faults. */
static double all_runs(const struct spec_contract *contract)
{
    const double repeats = contract->matrix.repeats ? contract->matrix.repeats : 1;
    double runs = runs_of(&contract->matrix.over, repeats);
    for (unsigned i = 0; i < contract->faults_count; i++) {
        runs += runs_of(&contract->faults[i].over, runs_of(&contract->matrix.over, 1));
    }
    return runs;
}

static void check_plan(const struct contract_plan *plan)
{
    for (size_t i = 0; i < plan->runs.count; i++) {
        const struct plan_run *run = &plan->runs.items[i];
        expect(run->build < plan->builds.count && run->matrix < plan->matrices.count);
        expect(run->command.count > 5 && !run->command.words[run->command.count]);
        for (size_t k = 0; k < run->command.count; k++) {
            expect(run->command.words[k] != NULL);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const checks[] = {"SSAN-RAW", "SSAN-WAR", "SSAN-USE-AFTER-FREE"};
    const struct plan_options options = {
        .tool = "streamsan", .nvcc = "nvcc", .folder = "/nowhere/at/all", .spec_name = "known"};
    struct spec spec;
    struct contract_plan plan = {.arena = {0}};
    struct ssan_error err = {0};
    enum ssan_status status = spec_parse(&spec, "known", (const char *)data, size, checks, 3, &err);
    expect(status == SSAN_OK || (status == SSAN_FORMAT && strncmp(err.text, "known:", 6) == 0));
    if (status == SSAN_OK && all_runs(spec.contract) <= RUNS_MOST) {
        status = contract_plan_fill(&plan, &spec, &options, &err);
        expect(status == SSAN_OK || status == SSAN_IO || status == SSAN_FORMAT);
        expect(status == SSAN_OK || err.text[0]);
        if (status == SSAN_OK) {
            check_plan(&plan);
        }
    }
    contract_plan_finish(&plan);
    spec_finish(&spec);
    return 0;
}
