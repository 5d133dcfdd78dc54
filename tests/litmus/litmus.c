/* Loads listings with their directives; says an oracle's verdict in the words of the directives. */
#include "litmus/litmus.h"

#include "support/must.h"
#include "trace/listing.h"
#include "trace/reader.h"

#include <dirent.h>
#include <inttypes.h>
#include <string.h>

void verdict_add(struct verdict *verdict, const char *line)
{
    char *copy = mem_strdup(line);
    MUST(copy && VEC_PUSH(&verdict->lines, copy));
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char *verdict_text(struct verdict *verdict)
{
    struct strbuf text = {0};
    if (verdict->lines.count == 0) {
        strbuf_puts(&text, "clean\n");
    } else {
        qsort(verdict->lines.items, verdict->lines.count, sizeof *verdict->lines.items, by_text);
    }
    for (size_t i = 0; i < verdict->lines.count; i++) {
        strbuf_printf(&text, "%s\n", verdict->lines.items[i]);
    }
    char *result = strbuf_take(&text);
    MUST(result);
    return result;
}

void verdict_finish(struct verdict *verdict)
{
    for (size_t i = 0; i < verdict->lines.count; i++) {
        mem_free(verdict->lines.items[i]);
    }
    VEC_FREE(&verdict->lines);
}

/* Reads one line of directives; *strict_too stays true until a strict verdict is stated. */
static void read_directive(struct litmus *litmus, const char *line, bool *strict_too)
{
    bool strict = strncmp(line, "#expect-strict: ", 16) == 0;
    if (strict && *strict_too) {
        verdict_finish(&litmus->expect[1]);
        *strict_too = false;
    }
    const char *verdict = strict ? line + 16 : line + 9;
    if (strict || strncmp(line, "#expect: ", 9) == 0) {
        bool clean = strcmp(verdict, "clean") == 0;
        if (!clean && !strict) {
            verdict_add(&litmus->expect[0], verdict);
        }
        if (!clean && (strict || *strict_too)) {
            verdict_add(&litmus->expect[1], verdict);
        }
    } else if (strncmp(line, "#nearest: strict ", 17) == 0) {
        verdict_add(&litmus->nearest[1], line + 17);
    } else if (strncmp(line, "#nearest: ", 10) == 0) {
        verdict_add(&litmus->nearest[0], line + 10);
    }
}

static void read_directives(struct litmus *litmus)
{
    bool strict_too = true;
    for (const char *at = litmus->text; *at;) {
        size_t length = strcspn(at, "\n");
        char *line = mem_strndup(at, length);
        MUST(line);
        read_directive(litmus, line, &strict_too);
        mem_free(line);
        at += length + (at[length] != '\0');
    }
}

/* Reads a listing to its end into the tape. */
static bool read_listing(struct tape *tape, const char *name, const char *text, size_t length)
{
    struct ssan_error err = {0};
    struct reader *reader = NULL;
    struct ssan_event event;
    enum ssan_next next = SSAN_NEXT_ERROR;
    if (reader_open_listing(&reader, name, text, length, &err) == SSAN_OK) {
        while ((next = ssan_next(reader_source(reader), &event, &err)) == SSAN_NEXT_EVENT) {
            tape_put(tape, &event);
        }
        reader_close(reader);
    }
    if (next == SSAN_NEXT_ERROR) {
        fprintf(stderr, "%s:%" PRIu64 ": %s\n", name, err.position, err.text);
    }
    return next == SSAN_NEXT_END;
}

static void load_one(struct litmus_set *set, const char *directory, const char *file)
{
    struct litmus litmus = {0};
    struct strbuf path = {0}, text = {0};
    char piece[4096];
    strbuf_printf(&path, "%s/%s", directory, file);
    FILE *in = fopen(strbuf_text(&path), "r");
    MUST(in);
    for (size_t got; (got = fread(piece, 1, sizeof piece, in)) > 0;) {
        strbuf_add(&text, piece, got);
    }
    fclose(in);
    litmus.length = text.length;
    litmus.text = strbuf_take(&text);
    litmus.name = mem_strndup(file, strlen(file) - strlen(".litmus"));
    MUST(litmus.text && litmus.name);
    read_directives(&litmus);
    MUST(read_listing(&litmus.tape, strbuf_text(&path), litmus.text, litmus.length));
    MUST(VEC_PUSH(&set->items, litmus));
    strbuf_finish(&path);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_litmus(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 7 && strcmp(entry->d_name + length - 7, ".litmus") == 0;
}

void litmus_load(struct litmus_set *set, const char *directory)
{
    struct dirent **entries = NULL;
    int count = scandir(directory, &entries, is_litmus, by_name);
    MUST(count > 0);
    for (int i = 0; i < count; i++) {
        load_one(set, directory, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
}

void litmus_finish(struct litmus_set *set)
{
    for (size_t i = 0; i < set->items.count; i++) {
        struct litmus *litmus = &set->items.items[i];
        mem_free(litmus->name);
        mem_free(litmus->text);
        tape_finish(&litmus->tape);
        for (int strict = 0; strict < 2; strict++) {
            verdict_finish(&litmus->expect[strict]);
            verdict_finish(&litmus->nearest[strict]);
        }
    }
    VEC_FREE(&set->items);
}

void litmus_side(const struct tape *tape, uint64_t position, char *label, size_t size)
{
    MUST(position < tape->events.count);
    const struct ssan_event *event = &tape->events.items[position];
    uint64_t nth = 0;
    for (uint64_t i = 0; i <= position; i++) {
        nth += tape->events.items[i].kind == event->kind;
    }
    switch (event->kind) {
    case SSAN_EV_op:
        snprintf(label, size, "op:%" PRIu64, event->op.op);
        break;
    case SSAN_EV_sync:
        snprintf(label, size, "sync:%" PRIu64, event->sync.sync);
        break;
    case SSAN_EV_alloc:
        snprintf(label, size, "alloc:%u", event->alloc.alloc);
        break;
    case SSAN_EV_free:
        snprintf(label, size, "free:%u", event->free.alloc);
        break;
    case SSAN_EV_host_access:
        snprintf(label, size, "host:%" PRIu64, nth);
        break;
    case SSAN_EV_pool_free:
        snprintf(label, size, "pool:%" PRIu64, nth);
        break;
    default:
        snprintf(label, size, "%s:%" PRIu64, ssan_event_info(event->kind)->name, nth);
        break;
    }
}

bool litmus_round_trip(const struct litmus *litmus)
{
    struct strbuf text = {0};
    struct tape again = {0};
    strbuf_puts(&text, LISTING_FIRST_LINE "\n");
    for (size_t i = 0; i < litmus->tape.events.count; i++) {
        listing_print(&text, &litmus->tape.events.items[i]);
    }
    bool same = read_listing(&again, litmus->name, strbuf_text(&text), text.length) &&
                again.events.count == litmus->tape.events.count;
    for (size_t i = 0; same && i < again.events.count; i++) {
        same = tape_same_event(&again.events.items[i], &litmus->tape.events.items[i]);
    }
    strbuf_finish(&text);
    tape_finish(&again);
    return same;
}

void litmus_oracle(const struct litmus *litmus, bool strict, struct verdict *verdict)
{
    const char *why = NULL;
    struct oracle *oracle = oracle_run(&litmus->tape, strict, &why);
    if (!oracle) {
        verdict_add(verdict, why);
        return;
    }
    size_t count = 0;
    const struct oracle_fault *faults = oracle_faults(oracle, &count);
    for (size_t i = 0; i < count; i++) {
        const struct oracle_fault *fault = &faults[i];
        bool advice = fault->check >= ORACLE_EVENT_UNRECORDED || fault->mild;
        bool alone = advice || fault->check == ORACLE_UNCHECKED_LAUNCH;
        bool warning = !fault->observed || fault->sureness == ORACLE_POSSIBLE;
        char first[32] = "", then[32], line[160];
        litmus_side(&litmus->tape, fault->first_position, first, sizeof first);
        litmus_side(&litmus->tape, fault->then_position, then, sizeof then);
        snprintf(line, sizeof line, "%s %s%s%s then=%s",
                 advice    ? "advice"
                 : warning ? "warning"
                           : "error",
                 oracle_check_word(fault->check), alone ? "" : " first=", alone ? "" : first, then);
        verdict_add(verdict, line);
    }
    oracle_destroy(oracle);
}

void litmus_without_by(const struct verdict *stated, struct verdict *plain)
{
    for (size_t i = 0; i < stated->lines.count; i++) {
        char line[200];
        const char *text = stated->lines.items[i], *by = strstr(text, " by=");
        size_t head = by ? (size_t)(by - text) : strlen(text);
        const char *tail = by ? by + 4 + strcspn(by + 4, " ") : "";
        snprintf(line, sizeof line, "%.*s%s", (int)head, text, tail);
        verdict_add(plain, line);
    }
}
