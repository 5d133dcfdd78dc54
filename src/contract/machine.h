/* What a contract ran on and was built with: each fact from its own source, or null with the
 * reason. The compiler's version comes from the compiler, never from the driver. */
#ifndef SSAN_CONTRACT_MACHINE_H
#define SSAN_CONTRACT_MACHINE_H

#include "contract/contract.h"

#include <jansson.h>

struct machine_tools {
    const char *clang;     /* the clang that `streamsan cc` calls; NULL: none */
    const char *clang_why; /* why there is none */
};

/* Asks the programs that know, and keeps what they said in machine/ of the work folder. The JSON of
 * each device word of the plan is in `devices`, an object. Both are the caller's. SSAN_IO,
 * SSAN_FULL: nothing can be written; SSAN_NO_MEMORY. What is not there is no failure. */
enum ssan_status machine_ask(json_t **host, json_t **devices, const struct contract_result *result,
                             const struct contract_options *options,
                             const struct machine_tools *tools, struct ssan_error *err);

#endif
