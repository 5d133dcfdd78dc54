/* A listing as a source of events.
 *
 * Naive model: parse line after line. `at="file:line"` becomes a site of its own, the same text the
 * same site, with an id above all that the listing names, given out with its `line` before the
 * event. Cost: the text and, for a line at a time, 16 times its length. */
#include "trace/listing.h"
#include "trace/listing_parse.h"
#include "trace/reader_form.h"

#include "base/map.h"
#include "base/vec.h"

#include <inttypes.h>
#include <string.h>

struct place {
    char *text; /* a copy */
    uint32_t length, site;
};

struct listing {
    struct reader base;
    char *name;
    char *text;
    bool owned;
    size_t length, at;
    uint64_t line;      /* lines read so far */
    uint32_t last_site; /* highest id the listing names itself */
    VEC(struct place) places;
    struct map by_hash; /* hash_place, or the next free number behind it -> index in `places` */
    VEC(unsigned char) scratch;
    /* A place's site and line stand before the event that brought it. */
    struct ssan_event waiting[2];
    int waiting_count;
};

static unsigned digit_of(char c)
{
    return c >= '0' && c <= '9'   ? (unsigned)(c - '0')
           : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
           : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                  : 16;
}

/* The highest number behind `site=`: ids for `at` begin above it. */
static uint32_t find_last_site(const char *text, size_t length)
{
    static const char key[] = "site=";
    uint32_t last = 0;
    const char *end = text + length, *at = text;
    while ((at = memmem(at, (size_t)(end - at), key, sizeof key - 1)) != NULL) {
        at += sizeof key - 1;
        bool hex = end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
        uint64_t number = 0;
        for (at += hex ? 2 : 0; at < end && digit_of(*at) < (hex ? 16u : 10u); at++) {
            number = number * (hex ? 16 : 10) + digit_of(*at);
            if (number > UINT32_MAX / 2) {
                number = 0; /* no id that a listing with places can hold beside its own */
                break;
            }
        }
        last = number > last ? (uint32_t)number : last;
    }
    return last;
}

static uint64_t hash_place(struct ssan_str text)
{
    uint64_t hash = text.length;
    for (uint32_t i = 0; i < text.length; i++) {
        hash = record_mix(hash, (unsigned char)text.ptr[i]);
    }
    return hash;
}

/* The site of a place, *is_new when it wasn't met before; 0 when out of memory. */
static uint32_t intern_place(struct listing *listing, struct ssan_str text, bool *is_new)
{
    uint64_t key = hash_place(text), *found;
    for (; (found = map_find(&listing->by_hash, key)); key++) {
        const struct place *place = &listing->places.items[*found];
        if (place->length == text.length && memcmp(place->text, text.ptr, text.length) == 0) {
            *is_new = false;
            return place->site;
        }
    }
    struct place place = {mem_strndup(text.ptr, text.length), text.length,
                          listing->last_site + (uint32_t)listing->places.count + 1};
    if (!place.text || !map_set(&listing->by_hash, key, listing->places.count) ||
        !VEC_PUSH(&listing->places, place)) {
        mem_free(place.text);
        return 0;
    }
    *is_new = true;
    return place.site;
}

static void forget_places(struct listing *listing)
{
    for (size_t i = 0; i < listing->places.count; i++) {
        mem_free(listing->places.items[i].text);
    }
    listing->places.count = 0;
    map_finish(&listing->by_hash);
    listing->by_hash = (struct map){0};
}

static bool out_of_memory(struct listing *listing, struct ssan_error *err)
{
    ssan_fail(err, SSAN_NO_MEMORY, listing->line, "%s:%" PRIu64 ": out of memory", listing->name,
              listing->line);
    return false;
}

/* Gives *event the site of its `at` field, with the events that make the site before it. */
static bool add_place(struct listing *listing, const struct line_parser *parser,
                      struct ssan_event *event, struct ssan_error *err)
{
    struct ssan_event line = {.kind = SSAN_EV_line};
    bool is_new;
    if (!place_parse(parser, &line.line, err)) {
        return false;
    }
    uint32_t site = intern_place(listing, parser->place, &is_new);
    if (site == 0) {
        return out_of_memory(listing, err);
    }
    memcpy((char *)event + site_offset(event->kind), &site, sizeof site);
    if (is_new) {
        line.line.site = site;
        listing->waiting[0] = *event;
        listing->waiting[1] = line;
        listing->waiting_count = 2;
        *event = (struct ssan_event){.kind = SSAN_EV_site, .site = {.site = site}};
    }
    return true;
}

/* The next event of the text; false at its end and, with err->status set, on a fault. */
static bool read_line(struct listing *listing, struct ssan_event *event, struct ssan_error *err)
{
    err->status = SSAN_OK;
    while (listing->at < listing->length) {
        const char *from = listing->text + listing->at;
        const char *stop = memchr(from, '\n', listing->length - listing->at);
        size_t length = stop ? (size_t)(stop - from) : listing->length - listing->at;
        listing->at += length + (stop ? 1 : 0);
        listing->line++;
        if (length > UINT32_MAX / 32) {
            ssan_fail(err, SSAN_FORMAT, listing->line, "%s:%" PRIu64 ": the line is too long",
                      listing->name, listing->line);
            return false;
        }
        if (!VEC_RESERVE(&listing->scratch, LINE_SCRATCH(length))) {
            return out_of_memory(listing, err);
        }
        struct line_parser parser = {
            .name = listing->name,
            .line = listing->line,
            .at = from,
            .end = from + length,
            .scratch = listing->scratch.items,
        };
        if (line_parse(&parser, event, err)) {
            return err->status == SSAN_OK &&
                   (parser.place.length == 0 || add_place(listing, &parser, event, err));
        }
    }
    return false;
}

static enum ssan_next listing_next(struct reader *reader, struct ssan_event *event,
                                   struct ssan_error *err)
{
    struct listing *listing = (struct listing *)reader;
    if (listing->waiting_count) {
        *event = listing->waiting[--listing->waiting_count];
        return SSAN_NEXT_EVENT;
    }
    if (!read_line(listing, event, err)) {
        return err->status == SSAN_OK ? SSAN_NEXT_END : SSAN_NEXT_ERROR;
    }
    reader->position = listing->line;
    return SSAN_NEXT_EVENT;
}

static bool listing_rewind(struct reader *reader)
{
    struct listing *listing = (struct listing *)reader;
    const char *first = memchr(listing->text, '\n', listing->length);
    listing->at = first ? (size_t)(first - listing->text) + 1 : listing->length;
    listing->line = 1;
    listing->waiting_count = 0;
    forget_places(listing);
    return true;
}

static uint64_t listing_bytes(const struct reader *reader)
{
    return ((const struct listing *)reader)->length;
}

static void listing_close(struct reader *reader)
{
    struct listing *listing = (struct listing *)reader;
    forget_places(listing);
    VEC_FREE(&listing->places);
    VEC_FREE(&listing->scratch);
    if (listing->owned) {
        mem_free(listing->text);
    }
    mem_free(listing->name);
    mem_free(listing);
}

static const struct reader_form listing_form = {listing_next, listing_rewind, listing_bytes, NULL,
                                                listing_close};

/* The first line: the word and a version that is ours. */
static enum ssan_status check_first_line(const char *name, const char *text, size_t length,
                                         struct ssan_error *err)
{
    static const char mark[] = "streamsan-listing ";
    const char *at = text + sizeof mark - 1, *end = text + length;
    if (length < sizeof mark - 1 || memcmp(text, mark, sizeof mark - 1) != 0) {
        return ssan_fail(err, SSAN_FORMAT, 1, "%s:1: a listing begins with the line `%s`", name,
                         LISTING_FIRST_LINE);
    }
    uint64_t version = 0;
    const char *digits = at;
    for (; at < end && digit_of(*at) < 10 && version <= UINT32_MAX; at++) {
        version = version * 10 + digit_of(*at);
    }
    bool is_number = at > digits;
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r')) {
        at++;
    }
    if (!is_number || (at < end && *at != '\n')) {
        return ssan_fail(err, SSAN_FORMAT, 1, "%s:1: a listing begins with the line `%s`", name,
                         LISTING_FIRST_LINE);
    }
    if (version != LISTING_VERSION) {
        return ssan_fail(err, SSAN_VERSION, 1,
                         "%s is a listing of version %" PRIu64 ", this streamsan reads version %u: "
                         "print it again with `dump` from its trace",
                         name, version, LISTING_VERSION);
    }
    return SSAN_OK;
}

enum ssan_status listing_open(struct reader **reader, const char *name, char *text, size_t length,
                              bool owned, struct ssan_error *err)
{
    enum ssan_status status = check_first_line(name, text, length, err);
    if (status != SSAN_OK) {
        return status;
    }
    struct listing *listing = mem_zalloc(1, sizeof *listing);
    char *own_name = mem_strdup(name);
    if (!listing || !own_name) {
        mem_free(listing);
        mem_free(own_name);
        return ssan_fail(err, SSAN_NO_MEMORY, 0, "%s: out of memory", name);
    }
    listing->base.form = &listing_form;
    listing->name = own_name;
    listing->text = text;
    listing->owned = owned;
    listing->length = length;
    listing->last_site = find_last_site(text, length);
    listing_rewind(&listing->base);
    *reader = &listing->base;
    return SSAN_OK;
}
