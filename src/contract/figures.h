/* Numbers as the texts of contracts and outputs hold them. Pure; any thread. */
#ifndef SSAN_CONTRACT_FIGURES_H
#define SSAN_CONTRACT_FIGURES_H

#include <stdbool.h>

/* Whether a is less than b (-1), equal (0) or more (1). Whole numbers of one base are compared by
 * their digits, however many, others as doubles. False: one of them is no finite number. */
bool figures_order(const char *a, const char *b, int *order);

/* Whether two texts are equal: as numbers within the tolerances (|a - b| <= abs + rel * max), which
 * are not rounded where both fit 64 bits; letter by letter where one is no number. */
bool figures_equal(const char *a, const char *b, double abs, double rel);

#endif
