/* Schedules read (plan_print.c prints them).
 *
 * Invariant: a plan that was read lists no item and no call twice, so the device can give each one
 * place. The naive model is a text of one directive a line. Cost: O(length). */
#include "trace/plan.h"

#include "base/file.h"
#include "base/map.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FILE_BYTES_MAX (64u << 20)

/* What is being read. */
struct reading {
    struct plan *plan;
    const char *name;
    uint64_t line; /* 0: the words of an option */
    const char *at, *end;
    struct map items_seen, calls_seen;
    struct ssan_error *err;
};

static enum ssan_status refuse(struct reading *reading, const char *what, const char *word)
{
    if (reading->line == 0) {
        return ssan_fail(reading->err, SSAN_USAGE, 0, "%s: %s%s%s%s", reading->name, what,
                         word ? " '" : "", word ? word : "", word ? "'" : "");
    }
    return ssan_fail(reading->err, SSAN_FORMAT, reading->line, "%s:%" PRIu64 ": %s%s%s%s",
                     reading->name, reading->line, what, word ? " '" : "", word ? word : "",
                     word ? "'" : "");
}

static enum ssan_status no_memory(struct reading *reading)
{
    return ssan_fail(reading->err, SSAN_NO_MEMORY, reading->line, "out of memory");
}

/* A decimal number that fits 32 bits and is not 0. */
static bool read_u32(const char **text, uint32_t *number)
{
    uint64_t value = 0;
    const char *at = *text;
    for (; isdigit((unsigned char)*at); at++) {
        value = value * 10 + (uint64_t)(*at - '0');
        if (value > UINT32_MAX) {
            return false;
        }
    }
    if (at == *text || value == 0) {
        return false;
    }
    *text = at;
    *number = (uint32_t)value;
    return true;
}

/* "s1." of "s1.2": a letter, a number and what ends it. */
static bool read_owner(const char **text, char letter, uint32_t *number)
{
    if (**text != letter) {
        return false;
    }
    ++*text;
    if (!read_u32(text, number) || **text != '.') {
        return false;
    }
    ++*text;
    return true;
}

bool plan_item_read(const char *text, struct plan_item *item, const char **end)
{
    *end = text;
    return read_owner(end, 's', &item->stream) && read_u32(end, &item->seq);
}

bool plan_stream_read(const char *word, uint32_t *stream)
{
    const char *digits = word + 1;
    return word[0] == 's' && read_u32(&digits, stream) && *digits == '\0';
}

static bool call_read(const char *text, struct plan_call *call, const char **end)
{
    if (!read_owner(&text, 't', &call->thread)) {
        return false;
    }
    call->query = 0;
    if (*text == '0') { /* queries in front of the first call */
        call->number = 0;
        text++;
    } else if (!read_u32(&text, &call->number)) {
        return false;
    }
    if (*text == 'q') {
        text++;
        if (!read_u32(&text, &call->query)) {
            return false;
        }
    }
    *end = text;
    return call->number != 0 || call->query != 0;
}

static int hex_digit(char c)
{
    return isdigit((unsigned char)c) ? c - '0'
           : c >= 'a' && c <= 'f'    ? c - 'a' + 10
           : c >= 'A' && c <= 'F'    ? c - 'A' + 10
                                     : -1;
}

/* The next character, %xx read as what it stands for; *at moves on. */
static char next_character(const char **at, const char *end)
{
    const char *from = *at;
    if (*from == '%' && end - from >= 3 && hex_digit(from[1]) >= 0 && hex_digit(from[2]) >= 0 &&
        (from[1] != '0' || from[2] != '0')) {
        *at += 3;
        return (char)(hex_digit(from[1]) * 16 + hex_digit(from[2]));
    }
    *at += 1;
    return *from;
}

/* The next word of the line, NUL-terminated in `word`; false at the end of the line. A word that
 * is too long is cut, and so is refused by whoever reads it. */
static bool next_word(struct reading *reading, char *word, size_t room)
{
    size_t length = 0;
    while (reading->at < reading->end && (*reading->at == ' ' || *reading->at == '\t')) {
        reading->at++;
    }
    while (reading->at < reading->end && !isspace((unsigned char)*reading->at)) {
        char c = next_character(&reading->at, reading->end);
        if (length + 1 < room) {
            word[length++] = c;
        }
    }
    word[length] = '\0';
    return length > 0;
}

static enum ssan_status add_item(struct reading *reading, const char *word)
{
    struct plan_item item;
    const char *end;
    uint64_t key;
    if (!plan_item_read(word, &item, &end) || *end != '\0') {
        return refuse(reading, "an item is written as s1.2 (stream 1, item 2), not", word);
    }
    key = (uint64_t)item.stream << 32 | item.seq;
    if (map_find(&reading->items_seen, key)) {
        return refuse(reading, "the item is listed twice:", word);
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

/* A whole word as a number of this base, which fits 64 bits. */
static bool read_u64(const char *word, unsigned base, uint64_t *number)
{
    uint64_t value = 0;
    for (const char *at = word; *at; at++) {
        int digit = hex_digit(*at);
        if (digit < 0 || (unsigned)digit >= base ||
            __builtin_mul_overflow(value, (uint64_t)base, &value) ||
            __builtin_add_overflow(value, (uint64_t)digit, &value)) {
            return false;
        }
    }
    *number = value;
    return *word != '\0';
}

static enum ssan_status parse_together(struct reading *reading)
{
    char word[64];
    struct plan_together together = {.first = reading->plan->items.count};
    enum ssan_status status;
    if (!next_word(reading, word, sizeof word)) {
        return refuse(reading, "together needs a seed and items, as in: together 7 s1.2 s2.1",
                      NULL);
    }
    if (!read_u64(word, 10, &together.seed)) {
        return refuse(reading, "a seed is a number, not", word);
    }
    status = parse_items(reading);
    together.count = reading->plan->items.count - together.first;
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
    if (!call_read(word, call, &end) || *end != '\0') {
        return refuse(reading, "a call is written as t1.3 (thread 1, call 3), not", word);
    }
    return SSAN_OK;
}

static enum ssan_status parse_calls(struct reading *reading)
{
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

static enum ssan_status parse_by(struct reading *reading)
{
    struct plan_by by;
    enum ssan_status status = read_by(reading, &by);
    return status != SSAN_OK                   ? status
           : VEC_PUSH(&reading->plan->bys, by) ? SSAN_OK
                                               : no_memory(reading);
}

static enum ssan_status parse_after(struct reading *reading)
{
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
    if (!read_u64(begin, 16, &place.begin) || !read_u64(end, 16, &place.end) ||
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

static enum ssan_status parse_ignore(struct reading *reading)
{
    char module[256];
    if (!next_word(reading, module, sizeof module)) {
        return refuse(reading, "ignore needs a place", NULL);
    }
    return parse_place(reading, PLAN_IGNORE, module);
}

static enum ssan_status parse_serialize(struct reading *reading)
{
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

static enum ssan_status parse_note(struct reading *reading)
{
    struct strbuf words = {0};
    bool ok;
    while (reading->at < reading->end && isspace((unsigned char)*reading->at)) {
        reading->at++;
    }
    while (reading->end > reading->at && isspace((unsigned char)reading->end[-1])) {
        reading->end--;
    }
    if (reading->at == reading->end) {
        return refuse(reading, "a note needs words", NULL);
    }
    while (reading->at < reading->end) {
        char c = next_character(&reading->at, reading->end);
        strbuf_add(&words, &c, 1);
    }
    ok = !words.failed && plan_add_note(reading->plan, strbuf_text(&words));
    strbuf_finish(&words);
    return ok ? SSAN_OK : no_memory(reading);
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
    return read_u64(word + 7, 10, &seed) && strlen(word) < PLAN_POLICY_ROOM;
}

static enum ssan_status parse_policy(struct reading *reading)
{
    char word[PLAN_POLICY_ROOM];
    if (!next_word(reading, word, sizeof word) || !is_policy(word)) {
        return refuse(reading, "a policy is eager, lazy or random:SEED, not", word);
    }
    snprintf(reading->plan->policy, sizeof reading->plan->policy, "%s", word);
    return SSAN_OK;
}

static const struct {
    const char *word;
    enum ssan_status (*parse)(struct reading *reading);
} directives[] = {
    {"policy", parse_policy},
    {"items", parse_items},
    {"together", parse_together},
    {"calls", parse_calls},
    {"by", parse_by},
    {"after", parse_after},
    {"ignore", parse_ignore},
    {"serialize", parse_serialize},
    {"note", parse_note},
};

/* One line, [reading->at, reading->end). */
static enum ssan_status parse_line(struct reading *reading)
{
    char word[64];
    const char *hash = memchr(reading->at, '#', (size_t)(reading->end - reading->at));
    if (hash) {
        reading->end = hash;
    }
    if (!next_word(reading, word, sizeof word)) {
        return SSAN_OK;
    }
    for (size_t i = 0; i < sizeof directives / sizeof *directives; i++) {
        if (strcmp(word, directives[i].word) == 0) {
            enum ssan_status status = directives[i].parse(reading);
            if (status == SSAN_OK && next_word(reading, word, sizeof word)) {
                return refuse(reading, "unexpected word", word);
            }
            return status;
        }
    }
    return refuse(reading, "unknown word", word);
}

static void finish_reading(struct reading *reading)
{
    map_finish(&reading->items_seen);
    map_finish(&reading->calls_seen);
}

enum ssan_status plan_parse(struct plan *plan, const char *name, const char *text, size_t length,
                            struct ssan_error *err)
{
    static const char first[] = PLAN_FIRST_LINE;
    struct reading reading = {.plan = plan, .name = name, .err = err};
    enum ssan_status status = SSAN_OK;
    const char *end = text + length;
    memset(plan, 0, sizeof *plan);
    snprintf(plan->policy, sizeof plan->policy, "lazy");
    reading.line = 1;
    if (length < sizeof first - 1 || memcmp(text, first, sizeof first - 1) != 0 ||
        (length > sizeof first - 1 && !isspace((unsigned char)text[sizeof first - 1]))) {
        return refuse(&reading, "the first line of a schedule is '" PLAN_FIRST_LINE "'", NULL);
    }
    for (const char *at = text; status == SSAN_OK && at < end; reading.line++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        reading.at = at;
        reading.end = newline ? newline : end;
        if (memchr(at, '\0', (size_t)(reading.end - at))) {
            status = refuse(&reading, "a NUL byte", NULL);
        } else if (reading.line > 1) {
            status = parse_line(&reading);
        }
        at = newline ? newline + 1 : end;
    }
    finish_reading(&reading);
    return status;
}

static enum ssan_status read_order(struct plan *plan, const char *words, struct ssan_error *err)
{
    struct reading reading = {.plan = plan, .name = "order", .err = err};
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
    plan->serialize_all |= from->serialize_all;
    return !from->note || plan_add_note(plan, from->note);
}

bool plan_is_plain(const struct plan *plan)
{
    return plan->items.count == 0 && plan->calls.count == 0 && plan->bys.count == 0 &&
           plan->afters.count == 0 && plan->places.count == 0 && !plan->serialize_all &&
           plan->serialize_streams.count == 0 && !plan->note;
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
    VEC_FREE(&plan->serialize_streams);
}
