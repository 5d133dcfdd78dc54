/* Schedules read (plan_print.c prints them).
 *
 * Invariant: a plan that was read lists no item and no call twice, so the device can give each one
 * place. The naive model is a text of one directive a line. Cost: O(length). */
#include "trace/plan.h"

#include "trace/directive.h"

#include "base/file.h"
#include "base/map.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define FILE_BYTES_MAX (64u << 20)

/* What is being read. */
struct reading {
    struct plan *plan;
    struct directive *line;
    struct map items_seen, calls_seen;
    struct map latest; /* of a stream, or a thread's accesses -> highest number listed */
    size_t group;      /* the first item that is listed together with what comes; SIZE_MAX: none */
};

static enum ssan_status refuse(struct reading *reading, const char *what, const char *word)
{
    return directive_refuse(reading->line, what, word);
}

static enum ssan_status no_memory(struct reading *reading)
{
    return directive_no_memory(reading->line);
}

static bool next_word(struct reading *reading, char *word, size_t room)
{
    return directive_word(reading->line, word, room);
}

/* Items of a stream come in their order, whatever the program does (but take turns in a group). */
static enum ssan_status check_order(struct reading *reading, const struct plan_item *item,
                                    const char *word)
{
    const uint64_t owner = plan_item_key(&(struct plan_item){item->stream, 0, item->by_host});
    const uint64_t *at = map_find(&reading->latest, owner);
    const struct plan_item *latest = at ? &reading->plan->items.items[*at] : NULL;
    char what[160];
    if (latest && latest->seq > item->seq && *at < reading->group) {
        snprintf(what, sizeof what, "%s is listed before an item that comes before it on its %s:",
                 plan_item_text(latest).text, item->by_host ? "thread" : "stream");
        return refuse(reading, what, word);
    }
    return (latest && latest->seq > item->seq) ||
                   map_set(&reading->latest, owner, reading->plan->items.count)
               ? SSAN_OK
               : no_memory(reading);
}

static enum ssan_status add_item(struct reading *reading, const char *word)
{
    enum ssan_status status;
    struct plan_item item;
    const char *end;
    uint64_t key;
    if ((!plan_item_read(word, &item, &end) && !plan_access_read(word, &item, &end)) ||
        *end != '\0') {
        return refuse(reading,
                      "an item is written as s1.2 (stream 1, item 2), or a1.2 for an access of the "
                      "host (thread 1, its second one), not",
                      word);
    }
    key = plan_item_key(&item);
    if (map_find(&reading->items_seen, key)) {
        return refuse(reading, "the item is listed twice:", word);
    }
    status = check_order(reading, &item, word);
    if (status != SSAN_OK) {
        return status;
    }
    return map_set(&reading->items_seen, key, 1) && VEC_PUSH(&reading->plan->items, item)
               ? SSAN_OK
               : no_memory(reading);
}

static enum ssan_status parse_items(struct reading *reading)
{
    char word[64];
    enum ssan_status status = SSAN_OK;
    while (status == SSAN_OK && next_word(reading, word, sizeof word)) {
        status = add_item(reading, word);
    }
    return status;
}

static enum ssan_status parse_items_line(struct directive *line, void *self)
{
    return parse_items(self);
}

static enum ssan_status parse_together(struct directive *line, void *self)
{
    struct reading *reading = self;
    char word[64];
    struct plan_together together = {.first = reading->plan->items.count};
    enum ssan_status status;
    if (!next_word(reading, word, sizeof word)) {
        return refuse(reading, "together needs a seed and items, as in: together 7 s1.2 s2.1",
                      NULL);
    }
    if (!directive_number(word, 10, &together.seed)) {
        return refuse(reading, "a seed is a number, not", word);
    }
    reading->group = together.first;
    status = parse_items(reading);
    reading->group = SIZE_MAX;
    together.count = reading->plan->items.count - together.first;
    for (size_t i = together.first; i < reading->plan->items.count; i++) {
        if (reading->plan->items.items[i].by_host) {
            return refuse(reading, "accesses of the host take no turns", NULL);
        }
    }
    if (status == SSAN_OK && together.count < 2) {
        return refuse(reading, "together needs two items or more", NULL);
    }
    return status != SSAN_OK                               ? status
           : VEC_PUSH(&reading->plan->togethers, together) ? SSAN_OK
                                                           : no_memory(reading);
}

static enum ssan_status read_call(struct reading *reading, const char *word, struct plan_call *call)
{
    const char *end;
    if (!plan_call_read(word, call, &end) || *end != '\0') {
        return refuse(reading, "a call is written as t1.3 (thread 1, call 3), not", word);
    }
    return SSAN_OK;
}

static enum ssan_status parse_calls(struct directive *line, void *self)
{
    struct reading *reading = self;
    char word[64];
    struct plan_call call;
    enum ssan_status status = SSAN_OK;
    while (status == SSAN_OK && next_word(reading, word, sizeof word)) {
        status = read_call(reading, word, &call);
        if (status == SSAN_OK && call.query != 0) {
            return refuse(reading, "the order of queries can't be set:", word);
        }
        if (status == SSAN_OK) {
            uint64_t key = (uint64_t)call.thread << 32 | call.number;
            if (map_find(&reading->calls_seen, key)) {
                return refuse(reading, "the call is listed twice:", word);
            }
            if (!map_set(&reading->calls_seen, key, 1) || !VEC_PUSH(&reading->plan->calls, call)) {
                return no_memory(reading);
            }
        }
    }
    return status;
}

static enum ssan_status read_by(struct reading *reading, struct plan_by *by)
{
    char call[64], item[64];
    const char *end;
    enum ssan_status status;
    if (!next_word(reading, call, sizeof call) || !next_word(reading, item, sizeof item)) {
        return refuse(reading, "by and after need a call and an item, as in: by t1.6 s1.3", NULL);
    }
    status = read_call(reading, call, &by->call);
    if (status != SSAN_OK) {
        return status;
    }
    if (!plan_item_read(item, &by->item, &end) || *end != '\0') {
        return refuse(reading, "an item is written as s1.2 (stream 1, item 2), not", item);
    }
    return SSAN_OK;
}

static enum ssan_status parse_by(struct directive *line, void *self)
{
    struct reading *reading = self;
    struct plan_by by;
    enum ssan_status status = read_by(reading, &by);
    return status != SSAN_OK                   ? status
           : VEC_PUSH(&reading->plan->bys, by) ? SSAN_OK
                                               : no_memory(reading);
}

static enum ssan_status parse_after(struct directive *line, void *self)
{
    struct reading *reading = self;
    struct plan_by after;
    enum ssan_status status = read_by(reading, &after);
    return status != SSAN_OK                         ? status
           : VEC_PUSH(&reading->plan->afters, after) ? SSAN_OK
                                                     : no_memory(reading);
}

static enum ssan_status parse_place(struct reading *reading, enum plan_use use, const char *module)
{
    struct plan_place place = {.use = use};
    char begin[32], end[32];
    if (!next_word(reading, begin, sizeof begin) || !next_word(reading, end, sizeof end)) {
        return refuse(reading, "a place is an object's file name and two offsets", NULL);
    }
    if (!directive_number(begin, 16, &place.begin) || !directive_number(end, 16, &place.end) ||
        place.begin >= place.end) {
        return refuse(reading, "offsets are two hexadecimal numbers, the smaller one first", NULL);
    }
    place.module = mem_strdup(module);
    if (!place.module || !VEC_PUSH(&reading->plan->places, place)) {
        mem_free(place.module);
        return no_memory(reading);
    }
    return SSAN_OK;
}

static enum ssan_status parse_ignore(struct directive *line, void *self)
{
    struct reading *reading = self;
    char module[256];
    if (!next_word(reading, module, sizeof module)) {
        return refuse(reading, "ignore needs a place", NULL);
    }
    return parse_place(reading, PLAN_IGNORE, module);
}

static enum ssan_status parse_serialize(struct directive *line, void *self)
{
    struct reading *reading = self;
    char word[256];
    uint32_t stream;
    if (!next_word(reading, word, sizeof word)) {
        return refuse(reading, "serialize needs all, a stream as s2, or a place", NULL);
    }
    if (strcmp(word, "all") == 0) {
        reading->plan->serialize_all = true;
        return SSAN_OK;
    }
    if (plan_stream_read(word, &stream)) {
        return VEC_PUSH(&reading->plan->serialize_streams, stream) ? SSAN_OK : no_memory(reading);
    }
    if (strcmp(word, "at") != 0 || !next_word(reading, word, sizeof word)) {
        return refuse(reading, "serialize needs all, a stream as s2, or 'at' and a place", NULL);
    }
    return parse_place(reading, PLAN_SERIALIZE, word);
}

static enum ssan_status parse_fail(struct directive *line, void *self)
{
    struct reading *reading = self;
    char call[128], number[64], error[128];
    struct ssan_error err = {0};
    enum ssan_status status;
    if (!next_word(reading, call, sizeof call) || !next_word(reading, number, sizeof number) ||
        !next_word(reading, error, sizeof error)) {
        return refuse(reading,
                      "fail needs a call, a number or all, and an error, as in: fail cudaMalloc 2 "
                      "cudaErrorMemoryAllocation",
                      NULL);
    }
    status = plan_add_fail_parts(reading->plan, call, number, error, &err);
    return status == SSAN_OK          ? SSAN_OK
           : status == SSAN_NO_MEMORY ? no_memory(reading)
                                      : refuse(reading, err.text, NULL);
}

static enum ssan_status parse_note(struct directive *line, void *self)
{
    struct reading *reading = self;
    char *words = directive_rest(line);
    enum ssan_status status = SSAN_OK;
    if (!words) {
        return no_memory(reading);
    }
    if (!*words) {
        status = refuse(reading, "a note needs words", NULL);
    } else if (!plan_add_note(reading->plan, words)) {
        status = no_memory(reading);
    }
    mem_free(words);
    return status;
}

static bool is_policy(const char *word)
{
    uint64_t seed;
    if (strcmp(word, "eager") == 0 || strcmp(word, "lazy") == 0) {
        return true;
    }
    if (strncmp(word, "random:", 7) != 0 || !isdigit((unsigned char)word[7])) {
        return false;
    }
    return directive_number(word + 7, 10, &seed) && strlen(word) < PLAN_POLICY_ROOM;
}

static enum ssan_status parse_policy(struct directive *line, void *self)
{
    struct reading *reading = self;
    char word[PLAN_POLICY_ROOM];
    if (!next_word(reading, word, sizeof word) || !is_policy(word)) {
        return refuse(reading, "a policy is eager, lazy or random:SEED, not", word);
    }
    snprintf(reading->plan->policy, sizeof reading->plan->policy, "%s", word);
    return SSAN_OK;
}

static const struct directive_kind kinds[] = {
    {"policy", parse_policy},
    {"items", parse_items_line},
    {"together", parse_together},
    {"calls", parse_calls},
    {"by", parse_by},
    {"after", parse_after},
    {"ignore", parse_ignore},
    {"serialize", parse_serialize},
    {"fail", parse_fail},
    {"note", parse_note},
};

static void finish_reading(struct reading *reading)
{
    map_finish(&reading->items_seen);
    map_finish(&reading->calls_seen);
    map_finish(&reading->latest);
}

enum ssan_status plan_parse(struct plan *plan, const char *name, const char *text, size_t length,
                            struct ssan_error *err)
{
    struct directive line = {.name = name, .err = err};
    struct reading reading = {.plan = plan, .line = &line, .group = SIZE_MAX};
    enum ssan_status status;
    memset(plan, 0, sizeof *plan);
    snprintf(plan->policy, sizeof plan->policy, "lazy");
    status = directive_parse(&line, PLAN_FIRST_LINE, kinds, sizeof kinds / sizeof *kinds, &reading,
                             text, length);
    finish_reading(&reading);
    return status;
}

static enum ssan_status read_order(struct plan *plan, const char *words, struct ssan_error *err)
{
    struct directive line = {.name = "order", .err = err};
    struct reading reading = {.plan = plan, .line = &line, .group = SIZE_MAX};
    enum ssan_status status = SSAN_OK;
    char word[64];
    snprintf(plan->policy, sizeof plan->policy, "lazy");
    while (status == SSAN_OK) {
        const char *comma = strchr(words, ',');
        size_t length = comma ? (size_t)(comma - words) : strlen(words);
        snprintf(word, sizeof word, "%.*s", length < sizeof word ? (int)length : 63, words);
        status = add_item(&reading, word);
        if (!comma) {
            break;
        }
        words = comma + 1;
    }
    finish_reading(&reading);
    return status;
}

static enum ssan_status read_file(struct plan *plan, const char *path, struct ssan_error *err)
{
    struct strbuf text = {0};
    enum ssan_status status = file_read(&text, path, FILE_BYTES_MAX, err);
    if (status == SSAN_OK) {
        status = plan_parse(plan, path, strbuf_text(&text), text.length, err);
    }
    strbuf_finish(&text);
    return status;
}

enum ssan_status plan_read(struct plan *plan, const char *words, struct ssan_error *err)
{
    memset(plan, 0, sizeof *plan);
    if (is_policy(words)) {
        memcpy(plan->policy, words, strlen(words) + 1);
        return SSAN_OK;
    }
    if (strncmp(words, "order:", 6) == 0) {
        return read_order(plan, words + 6, err);
    }
    if (strncmp(words, "file:", 5) == 0) {
        return read_file(plan, words + 5, err);
    }
    if (strncmp(words, "random", 6) == 0) {
        return ssan_fail(err, SSAN_USAGE, 0, "random takes a number, as random:7, not '%s'", words);
    }
    return ssan_fail(err, SSAN_USAGE, 0,
                     "a schedule is eager, lazy, random:SEED, order:s1.1,s2.1,... or file:PATH, "
                     "not '%s'",
                     words);
}

bool plan_add_note(struct plan *plan, const char *words)
{
    struct strbuf text = {0};
    char *note;
    strbuf_printf(&text, "%s%s%s", plan->note ? plan->note : "", plan->note ? ", " : "", words);
    note = strbuf_take(&text);
    if (!note) {
        strbuf_finish(&text);
        return false;
    }
    mem_free(plan->note);
    plan->note = note;
    return true;
}

bool plan_copy_places(struct plan *plan, const struct plan *from)
{
    size_t i;
    for (i = 0; i < from->places.count; i++) {
        struct plan_place place = from->places.items[i];
        place.module = mem_strdup(place.module);
        if (!place.module || !VEC_PUSH(&plan->places, place)) {
            mem_free(place.module);
            return false;
        }
    }
    for (i = 0; i < from->serialize_streams.count; i++) {
        if (!VEC_PUSH(&plan->serialize_streams, from->serialize_streams.items[i])) {
            return false;
        }
    }
    for (i = 0; i < from->fails.count; i++) {
        if (!VEC_PUSH(&plan->fails, from->fails.items[i])) {
            return false;
        }
    }
    plan->serialize_all |= from->serialize_all;
    return !from->note || plan_add_note(plan, from->note);
}

bool plan_is_plain(const struct plan *plan)
{
    return plan->items.count == 0 && plan->calls.count == 0 && plan->bys.count == 0 &&
           plan->afters.count == 0 && plan->places.count == 0 && plan->fails.count == 0 &&
           !plan->serialize_all && plan->serialize_streams.count == 0 && !plan->note;
}

void plan_finish(struct plan *plan)
{
    for (size_t i = 0; i < plan->places.count; i++) {
        mem_free(plan->places.items[i].module);
    }
    mem_free(plan->note);
    plan->note = NULL;
    VEC_FREE(&plan->items);
    VEC_FREE(&plan->calls);
    VEC_FREE(&plan->bys);
    VEC_FREE(&plan->afters);
    VEC_FREE(&plan->togethers);
    VEC_FREE(&plan->places);
    VEC_FREE(&plan->fails);
    VEC_FREE(&plan->serialize_streams);
}
