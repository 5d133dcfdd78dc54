/* Judges one run that has ended by what it left. */
#ifndef SSAN_CONTRACT_ASSESS_H
#define SSAN_CONTRACT_ASSESS_H

#include "contract/contract.h"
#include "contract/pool.h"

struct judging {
    const struct contract_options *options;
    const struct contract_plan *plan;
    const struct spec *spec;
    struct arena *arena;         /* of the result's texts */
    struct fault_result *faults; /* whose `alike` is filled in; as the contract's */
};

/* Fills in the result of a run from the end of its process and the files in its folder.
 * SSAN_NO_MEMORY. */
enum ssan_status assess_run(const struct judging *judging, const struct plan_run *run,
                            const struct pool_job *job, struct run_result *result,
                            struct ssan_error *err);

#endif
