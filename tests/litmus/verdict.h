/* What the engine and explain say about a listing, in the words of its directives. */
#ifndef SSAN_TESTS_LITMUS_VERDICT_H
#define SSAN_TESTS_LITMUS_VERDICT_H

#include "litmus/litmus.h"

#include <stdint.h>

/* The engine's hazards; a severity under --order documented that does not follow from the line (a
 * portability warning is an error there, all else stays) is told as a line of its own. `mutant` as
 * in engine_options. */
void litmus_engine(const struct litmus *litmus, bool strict, uint32_t mutant,
                   struct verdict *verdict);
/* The nearest misses of the findings that explain makes of them, as far as they have one. */
void litmus_nearest(const struct litmus *litmus, bool strict, struct verdict *verdict);

#endif
