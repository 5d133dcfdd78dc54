/* Fills the history of explain in one pass over the trace. */
#ifndef SSAN_CORE_EXPLAIN_READ_H
#define SSAN_CORE_EXPLAIN_READ_H

#include "core/explain_history.h"

/* Reads `source` from its first event (it stands there); `history` is zeroed. `light`: only what
 * the facts of the run need, for traces without hazards. `strict`: host threads are timelines of
 * their own. SSAN_NO_MEMORY, or the reader's error; the history then still wants history_finish. */
enum ssan_status history_read(struct history *history, struct arena *arena,
                              struct ssan_source *source, bool light, bool strict,
                              struct ssan_error *err);

#endif
