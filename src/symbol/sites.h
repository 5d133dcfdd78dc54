/* The resolved sites of one trace, made at the end of a run: `module` and `site` events in, `line`
 * events out. */
#ifndef SSAN_SYMBOL_SITES_H
#define SSAN_SYMBOL_SITES_H

#include "symbol/symbols.h"

#include "trace/event.h"

#include <stdbool.h>

struct sites;
struct strbuf;

/* `directory` as in symbols_create. NULL when out of memory. */
struct sites *sites_create(const char *directory);

/* Takes every event of the trace; keeps what module, site and line events say. False when out of
 * memory. */
bool sites_take(struct sites *sites, const struct ssan_event *event);

/* A `line` event of a producer gets the path that a report shows. Other events are left as they
 * are. */
void sites_shorten(const struct sites *sites, struct ssan_event *event);

/* Gives a `line` event for each frame of each site that has frames and no line event yet, in order
 * of site and depth. The stack ends with `main`. False when out of memory. */
bool sites_resolve(struct sites *sites, bool (*give)(void *self, const struct ssan_event *event),
                   void *self);

/* The innermost frame of a site in the program's own code, else the innermost that has a name;
 * before sites_resolve too. The strings hold until sites_destroy. False when nothing is known. */
bool sites_place(struct sites *sites, uint32_t site, struct symbol_frame *frame);

/* As symbols_explain. */
void sites_explain(const struct sites *sites, struct strbuf *out);
void sites_destroy(struct sites *sites);

#endif
