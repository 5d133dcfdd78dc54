/* A pass over the trace for its `line` events, which stand at its end, behind all that they are of.
 *
 * Of a site's frames the innermost counts that is in the user's code, as in reports.
 * Cost: one more reading of the trace. */
#include "cli/remarks.h"

#include "trace/own_header.h"

#include <inttypes.h>
#include <string.h>

#define TEXT_COLUMNS 80

/* Frames come from the innermost on: the first that is the user's stays. False when out of memory.
 */
static bool take_line(struct remarks *remarks, const struct ssan_ev_line *line)
{
    struct strbuf text = {0};
    const char *kept;
    const char *name;
    struct ssan_str file = line->file;
    bool is_library = is_library_file(file.ptr, file.length);
    uint64_t *weak = map_find(&remarks->libraries, line->site);
    if (is_own_header(file.ptr, file.length) ||
        (map_find(&remarks->sites, line->site) && (is_library || !weak || !*weak))) {
        return true;
    }
    if ((is_library || weak) && !map_set(&remarks->libraries, line->site, is_library)) {
        return false;
    }
    name = memrchr(file.ptr, '/', file.length);
    if (name) {
        file.length -= (size_t)(name + 1 - file.ptr);
        file.ptr = name + 1;
    }
    strbuf_add_printable(&text, file.ptr, file.length, SIZE_MAX);
    strbuf_printf(&text, ":%" PRIu32, line->line);
    if (line->text.length > 0) {
        strbuf_puts(&text, ": ");
        strbuf_add_printable(&text, line->text.ptr, line->text.length, TEXT_COLUMNS);
    } else if (line->function.length > 0) {
        strbuf_puts(&text, " in ");
        strbuf_add_printable(&text, line->function.ptr, line->function.length, TEXT_COLUMNS);
    }
    kept = strbuf_keep(&text, &remarks->arena);
    return kept && map_set(&remarks->sites, line->site, (uint64_t)(uintptr_t)kept);
}

enum ssan_status remarks_read(struct remarks *remarks, struct ssan_source *source,
                              struct ssan_error *err)
{
    struct ssan_event event;
    struct ssan_error ended = {0};
    bool good = true;
    if (!source->rewind(source)) {
        return SSAN_OK;
    }
    while (good && ssan_next(source, &event, &ended) == SSAN_NEXT_EVENT) {
        good = event.kind != SSAN_EV_line || take_line(remarks, &event.line);
    }
    if (!good || ended.status == SSAN_NO_MEMORY) {
        return ssan_no_memory(err);
    }
    return source->rewind(source) ? SSAN_OK
                                  : ssan_fail(err, SSAN_IO, 0, "the trace can't be read again");
}

/* The site of an event that tells of a call or an access, else 0. */
static uint32_t site_of(const struct ssan_event *event)
{
    const struct ssan_event_info *info = ssan_event_info((uint32_t)event->kind);
    uint32_t site = 0;
    size_t i;
    if (!info || event->kind == SSAN_EV_site || event->kind == SSAN_EV_line) {
        return 0;
    }
    for (i = 0; i < info->field_count; i++) {
        if (info->fields[i].type == SSAN_FIELD_U32 && strcmp(info->fields[i].name, "site") == 0) {
            memcpy(&site, (const char *)event + info->fields[i].offset, sizeof site);
        }
    }
    return site;
}

void remarks_comment(struct strbuf *out, const struct remarks *remarks,
                     const struct ssan_event *event)
{
    const uint32_t site = site_of(event);
    const uint64_t *text = site ? map_find(&remarks->sites, site) : NULL;
    if (text) {
        strbuf_printf(out, "  # %s", (const char *)(uintptr_t)*text);
    }
}

void remarks_finish(struct remarks *remarks)
{
    map_finish(&remarks->sites);
    map_finish(&remarks->libraries);
    arena_finish(&remarks->arena);
}
