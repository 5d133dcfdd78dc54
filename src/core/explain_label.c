/* Names: given by the program, else the variable of the creating call, else an ordinal.
 *
 * Names must be equal in every run, so they hold neither addresses nor ids of threads. Labels of
 * operations are a stream's shortest unique beginning and the item's number; a beginning that ends
 * in a digit would read wrongly. */
#include "core/explain_label.h"

#include <ctype.h>
#include <string.h>

#include "base/strbuf.h"
#include "core/explain_spell.h"
#include "core/explain_window.h"

#define PREFIX_MAX 4

static const char *numbered(struct arena *arena, const char *what, const char *sign,
                            uint32_t number)
{
    struct strbuf text = {0};
    strbuf_printf(&text, "%s%s%u", what, sign, number);
    const char *copy = text.failed ? NULL : arena_strdup(arena, strbuf_text(&text));
    strbuf_finish(&text);
    return copy;
}

struct label label_stream(const struct history *history, struct arena *arena, uint32_t stream)
{
    const struct hist_stream *found = &history->streams.items[stream];
    if (found->flavour == SSAN_stream_flavour_LEGACY) {
        return (struct label){"legacy", NAME_GIVEN};
    }
    if (found->flavour == SSAN_stream_flavour_PER_THREAD) {
        return (struct label){"per-thread", NAME_GIVEN};
    }
    if (found->given) {
        return (struct label){found->given, NAME_GIVEN};
    }
    const char *created = spell_created_stream(history, arena, stream);
    if (created) {
        return (struct label){created, NAME_VARIABLE};
    }
    return (struct label){numbered(arena, "stream", " #", found->ordinal), NAME_ORDINAL};
}

struct label label_event(const struct history *history, struct arena *arena, uint32_t event)
{
    const struct hist_event *found = &history->events.items[event];
    if (found->given) {
        return (struct label){found->given, NAME_GIVEN};
    }
    const char *created = spell_created_event(history, arena, event);
    if (created) {
        return (struct label){created, NAME_VARIABLE};
    }
    return (struct label){numbered(arena, "event", " #", found->ordinal), NAME_ORDINAL};
}

/* A name that the program gave to a byte in [begin, end), the one of the lowest byte; of equals the
 * last. */
static const char *given_between(const struct history *history, uint64_t begin, uint64_t end)
{
    const char *best = NULL;
    uint64_t lowest = end;
    for (size_t i = 0; i < history->pointer_names.count; i++) {
        const uint64_t address = history->pointer_names.items[i].address;
        if (address >= begin && address < end && address <= lowest) {
            best = history->pointer_names.items[i].text;
            lowest = address;
        }
    }
    return best;
}

static struct label label_pageable(const struct history *history, struct arena *arena,
                                   uint64_t begin, uint32_t ordinal)
{
    const struct range *range = ranges_find(&history->pageable, begin);
    const uint64_t end = range && range->begin <= begin ? range->end : begin + 1;
    const char *given = given_between(history, begin, begin + 1);
    if (given) {
        return (struct label){given, NAME_GIVEN};
    }
    for (size_t i = 0; i < history->operands.count; i++) { /* in order: the first use first */
        const struct hist_operand *operand = &history->operands.items[i];
        if (operand->address < begin || operand->address >= end) {
            continue;
        }
        const char *text = spell_operand(history, arena, operand);
        if (text) {
            return (struct label){text, NAME_VARIABLE};
        }
    }
    return (struct label){numbered(arena, "buffer", " #", ordinal), NAME_ORDINAL};
}

struct label label_block(const struct history *history, struct arena *arena, uint64_t key,
                         uint32_t ordinal)
{
    if (key & BLOCK_PAGEABLE) {
        return label_pageable(history, arena, key & ~BLOCK_PAGEABLE, ordinal);
    }
    const struct hist_alloc *alloc = &history->allocs.items[key];
    const char *given = alloc->given ? alloc->given : alloc->given_inside;
    if (!given && alloc->memory == SSAN_memory_REGISTERED) { /* named before it was registered */
        given = given_between(history, alloc->address, alloc->address + alloc->size);
    }
    if (given) {
        return (struct label){given, NAME_GIVEN};
    }
    const char *created = spell_created_block(history, arena, (uint32_t)key);
    if (created) {
        return (struct label){created, NAME_VARIABLE};
    }
    return (struct label){numbered(arena, "buffer", " #", ordinal), NAME_ORDINAL};
}

bool label_distinct(struct arena *arena, const char ***names, size_t count)
{
    struct map uses = {0}; /* hash of a name -> how often so far */
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        const uint64_t hash = hash_text(HASH_SEED, *names[i]);
        const uint64_t *known = map_find(&uses, hash);
        const uint64_t nth = known ? *known + 1 : 1;
        ok = map_set(&uses, hash, nth);
        if (ok && nth > 1) {
            *names[i] = numbered(arena, *names[i], "#", (uint32_t)nth);
            ok = *names[i] != NULL;
        }
    }
    map_finish(&uses);
    return ok;
}

/* How many characters two names have in common at their beginning, without regard to case. */
static size_t common(const char *a, const char *b)
{
    size_t length = 0;
    while (a[length] && tolower((unsigned char)a[length]) == tolower((unsigned char)b[length])) {
        length++;
    }
    return length;
}

bool label_prefixes(struct report *report, const char **prefixes)
{
    for (size_t i = 0; i < report->stream_count; i++) {
        const char *name = report->streams[i].name;
        size_t length = 1;
        prefixes[i] = NULL;
        for (size_t k = 0; k < report->stream_count; k++) {
            const size_t same = k == i ? 0 : common(name, report->streams[k].name);
            length = same + 1 > length ? same + 1 : length;
        }
        bool plain = length <= PREFIX_MAX && length <= strlen(name) &&
                     report->streams[i].name_from != NAME_ORDINAL &&
                     isalpha((unsigned char)name[0]) && !isdigit((unsigned char)name[length - 1]);
        for (size_t at = 0; plain && at < length; at++) {
            plain = isalnum((unsigned char)name[at]) || name[at] == '_';
        }
        if (plain) {
            char *prefix = arena_strndup(&report->arena, name, length);
            if (!prefix) {
                return false;
            }
            prefix[0] = (char)toupper((unsigned char)prefix[0]);
            prefixes[i] = prefix;
        }
    }
    return true;
}
