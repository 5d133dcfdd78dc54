/* Sites of the history: frames of stacks, the frame that is shown, keys of places.
 *
 * Lines may come in any order and at the end of the trace, so sites are settled after the last
 * event. Naive model: a list of frames, sorted. Cost: O(n log n) in frames, O(calls) to sort the
 * calls by place. */
#include "core/explain_read_parts.h"

#include "trace/own_header.h"

#include <stdlib.h>
#include <string.h>

uint32_t read_site(struct reader_state *state, uint32_t site)
{
    struct history *history = state->history;
    const uint32_t known = history_find(&history->site_of, site);
    if (known != HISTORY_NONE) {
        return known;
    }
    const uint32_t index = (uint32_t)history->sites.count;
    const struct hist_site new_site = {.stack_key = hash_bytes(HASH_SEED, &site, sizeof site),
                                       .place = HISTORY_NONE};
    return map_set(&history->site_of, site, index) && VEC_PUSH(&history->sites, new_site)
               ? index
               : HISTORY_NONE;
}

bool read_line(struct reader_state *state, const struct ssan_ev_line *ev)
{
    const uint32_t index = read_site(state, ev->site);
    const struct place place = {
        .file = ev->file.length ? read_intern(state, ev->file) : NULL,
        .function = ev->function.length ? read_intern(state, ev->function) : NULL,
        .line = ev->line,
        .text = ev->text.length ? read_intern(state, ev->text) : NULL,
        .language = ev->language,
    };
    return index != HISTORY_NONE && (place.file || !ev->file.length) &&
           (place.function || !ev->function.length) && (place.text || !ev->text.length) &&
           VEC_PUSH(&state->frames, (struct frame){index, ev->depth, place});
}

static int compare_frames(const void *left, const void *right)
{
    const struct frame *a = left, *b = right;
    if (a->site != b->site) {
        return a->site < b->site ? -1 : 1;
    }
    return (a->depth > b->depth) - (a->depth < b->depth);
}

/* The frame that is shown for a stack: the innermost in the user's own code, else the innermost
 * with a line that is not of our headers, else the innermost. */
static size_t choose_frame(const struct place *frames, size_t count)
{
    size_t known = count;
    for (size_t i = 0; i < count; i++) {
        const char *file = frames[i].file;
        if (!file || is_own_header(file, strlen(file))) {
            continue;
        }
        if (!is_library_file(file, strlen(file))) {
            return i;
        }
        known = known < count ? known : i;
    }
    return known < count ? known : 0;
}

/* Whether a source file of a library stands among the first `count` frames. What stands in a header
 * is as good as the program's own call: a wrapper. */
static bool is_made_by_library(const struct place *frames, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *file = frames[i].file, *suffix = file ? strrchr(file, '.') : NULL;
        if (suffix && strncmp(suffix, ".h", 2) != 0 && strcmp(suffix, ".inl") != 0 &&
            frames[i].language == SSAN_language_NATIVE && is_library_file(file, strlen(file))) {
            return true;
        }
    }
    return false;
}

/* Gives each site its frames and keys. */
bool read_settle_sites(struct reader_state *state)
{
    struct history *history = state->history;
    if (state->frames.count == 0) {
        return true;
    }
    qsort(state->frames.items, state->frames.count, sizeof *state->frames.items, compare_frames);
    struct place *places = arena_alloc(state->arena, state->frames.count * sizeof *places);
    for (size_t i = 0; places && i < state->frames.count;) {
        struct hist_site *site = &history->sites.items[state->frames.items[i].site];
        const size_t begin = i;
        uint64_t key = HASH_SEED;
        site->frames = &places[begin];
        for (; i < state->frames.count &&
               state->frames.items[i].site == state->frames.items[begin].site;
             i++) {
            const struct place *place = &state->frames.items[i].place;
            places[i] = *place;
            key = hash_text(hash_text(key, place->file), place->function);
            key = hash_bytes(key, &place->line, sizeof place->line);
        }
        site->frame_count = i - begin;
        site->stack_key = key;
        site->user = choose_frame(site->frames, site->frame_count);
        site->of_library = is_made_by_library(site->frames, site->user + 1);
        const struct place *shown = &site->frames[site->user];
        if (shown->file) {
            key = hash_text(HASH_SEED, shown->file);
            site->place_key = hash_bytes(key, &shown->line, sizeof shown->line) | 1;
        }
    }
    return places != NULL;
}

/* Numbers the places of all sites and sorts the calls by them. */
bool read_index_places(struct reader_state *state)
{
    struct history *history = state->history;
    struct map numbers = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < history->sites.count; i++) {
        struct hist_site *site = &history->sites.items[i];
        if (site->place_key != 0) {
            const uint32_t known = history_find(&numbers, site->place_key);
            ok = known != HISTORY_NONE || map_set(&numbers, site->place_key, history->place_count);
            site->place = known != HISTORY_NONE ? known : history->place_count++;
        }
    }
    map_finish(&numbers);
    uint32_t *begins = mem_zalloc((size_t)history->place_count + 2, sizeof *begins);
    history->place_calls = mem_zalloc(history->calls.count + 1, sizeof *history->place_calls);
    history->place_begins = begins;
    if (!ok || !begins || !history->place_calls) {
        return false;
    }
    for (size_t i = 0; i < history->calls.count; i++) {
        const uint32_t place = history_site(history, history->calls.items[i].site)->place;
        begins[place == HISTORY_NONE ? history->place_count + 1 : place + 1]++;
    }
    for (uint32_t place = 1; place <= history->place_count; place++) {
        begins[place] += begins[place - 1];
    }
    /* begins[p + 1] is where p ends; filling from the end makes it where p begins */
    const uint32_t elsewhere = begins[history->place_count + 1];
    for (size_t i = history->calls.count; i-- > 0;) {
        const uint32_t place = history_site(history, history->calls.items[i].site)->place;
        if (place != HISTORY_NONE) {
            history->place_calls[--begins[place + 1]] = (uint32_t)i;
        }
    }
    memmove(begins, begins + 1, history->place_count * sizeof *begins);
    begins[history->place_count] = (uint32_t)history->calls.count - elsewhere;
    return true;
}
