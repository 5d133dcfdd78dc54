/* Parts of a result as JSON, for the result itself and for the records of evidence. Each is a new
 * reference, NULL when out of memory. */
#ifndef SSAN_CONTRACT_RESULT_JSON_H
#define SSAN_CONTRACT_RESULT_JSON_H

#include "contract/contract.h"
#include "json/values.h"

/* Sets a key; takes the value, also on failure. False when out of memory or either is NULL. */
bool result_put(json_t *object, const char *key, json_t *take_value);
/* An exit code; null for one that is not known (below 0). */
json_t *result_code(int code);

/* What stands in the list of runs. */
json_t *result_run(const struct contract_result *result, size_t index);

#endif
