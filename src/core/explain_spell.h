/* How the source spells the streams, events and blocks that calls name. */
#ifndef SSAN_CORE_EXPLAIN_SPELL_H
#define SSAN_CORE_EXPLAIN_SPELL_H

#include "core/explain_history.h"

/* A name and where it is from. `text` NULL: out of memory. */
struct spelling {
    const char *text;
    bool guessed; /* not the text of the call's argument */
    bool foreign; /* made up, for what a library has made: no word of the program's is known */
};

/* The stream of an item as the item's call spells it; `arena` owns the text. */
struct spelling spell_stream(const struct history *history, struct arena *arena, uint32_t item);
/* The event of a record or wait likewise. */
struct spelling spell_event(const struct history *history, struct arena *arena, uint32_t item);

/* Variable that the creating call of a stream, event or block set, from its source text or its
 * caller's; NULL when that does not tell (or out of memory). */
const char *spell_created_stream(const struct history *history, struct arena *arena,
                                 uint32_t stream);
const char *spell_created_event(const struct history *history, struct arena *arena, uint32_t event);
const char *spell_created_block(const struct history *history, struct arena *arena, uint32_t alloc);
/* Variable that a pageable operand is in, from the text of its call; NULL likewise. */
const char *spell_operand(const struct history *history, struct arena *arena,
                          const struct hist_operand *operand);

#endif
