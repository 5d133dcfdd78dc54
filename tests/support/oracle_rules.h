/* What the return of a copy or memset is ordered behind, by memory kinds (rows C1 to A7). Pure
 * functions. */
#ifndef SSAN_TESTS_SUPPORT_ORACLE_RULES_H
#define SSAN_TESTS_SUPPORT_ORACLE_RULES_H

#include "support/oracle_state.h"

struct copy_rule oracle_copy_rule(enum ssan_form form, enum ssan_memory source,
                                  enum ssan_memory destination, uint64_t size);
struct copy_rule oracle_memset_rule(enum ssan_form form, enum ssan_memory destination);

#endif
