/* The grammar of a line: WORD (NAME=VALUE)*, VALUE a number, a word, a "string" or a [list]; `#`
 * begins a comment.
 *
 * Every fault names the listing, the line and the word; an unknown word is answered with those that
 * are known. Cost: one pass over the characters, one look through the event's fields for each
 * field. */
#include "trace/listing_parse.h"

#include "trace/record.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { WORD_SHOWN = 60, LIST_ROOM = 400 };

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static bool is_word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

static void skip_blanks(struct line_parser *p)
{
    while (p->at < p->end && is_blank(*p->at)) {
        p->at++;
    }
}

static bool skip(struct line_parser *p, char c)
{
    if (p->at < p->end && *p->at == c) {
        p->at++;
        return true;
    }
    return false;
}

static struct ssan_str take_word(struct line_parser *p)
{
    const char *from = p->at;
    while (p->at < p->end && is_word_char(*p->at)) {
        p->at++;
    }
    return (struct ssan_str){from, (uint32_t)(p->at - from)};
}

/* Always false. `word` is shown as far as it is short and printable. */
static bool fault(const struct line_parser *p, struct ssan_error *err, struct ssan_str word,
                  const char *what, const char *known)
{
    char shown[WORD_SHOWN + 1];
    uint32_t length = word.length < WORD_SHOWN ? word.length : WORD_SHOWN;
    for (uint32_t i = 0; i < length; i++) {
        shown[i] = (unsigned char)word.ptr[i] < ' ' ? '?' : word.ptr[i];
    }
    shown[length] = '\0';
    ssan_fail(err, SSAN_FORMAT, p->line, "%s:%" PRIu64 ": `%s`: %s%s%s", p->name, p->line, shown,
              what, known ? "; known: " : "", known ? known : "");
    return false;
}

/* From here to the next blank, for messages. */
static struct ssan_str rest(const struct line_parser *p)
{
    const char *to = p->at;
    while (to < p->end && !is_blank(*to)) {
        to++;
    }
    return (struct ssan_str){p->at, (uint32_t)(to - p->at)};
}

static void list_add(char *list, const char *word)
{
    size_t used = strlen(list);
    snprintf(list + used, LIST_ROOM - used, "%s%s", used ? " " : "", word);
}

static bool take_number(struct line_parser *p, uint64_t *value, struct ssan_error *err)
{
    const char *from = p->at;
    unsigned base = 10;
    if (p->end - p->at > 2 && p->at[0] == '0' && (p->at[1] == 'x' || p->at[1] == 'X')) {
        base = 16;
        p->at += 2;
    }
    const char *digits = p->at;
    *value = 0;
    for (; p->at < p->end; p->at++) {
        char c = *p->at;
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                         : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                                : 16;
        if (digit >= base) {
            break;
        }
        if (__builtin_mul_overflow(*value, base, value) ||
            __builtin_add_overflow(*value, digit, value)) {
            p->at = from;
            return fault(p, err, rest(p), "the number is above 64 bits", NULL);
        }
    }
    if (p->at == digits) {
        p->at = from;
        return fault(p, err, rest(p), "a number was expected", NULL);
    }
    return true;
}

static unsigned char *align_scratch(struct line_parser *p)
{
    p->scratch = (unsigned char *)(((uintptr_t)p->scratch + 7) & ~(uintptr_t)7);
    return p->scratch;
}

/* One escape behind its backslash. */
static bool take_escape(struct line_parser *p, unsigned char *byte, struct ssan_error *err)
{
    static const char letters[] = "abtnvfr\\\"'?", bytes[] = "\a\b\t\n\v\f\r\\\"'?";
    char c = p->at < p->end ? *p->at++ : '\0';
    const char *found = c ? strchr(letters, c) : NULL;
    unsigned value = 0;
    if (found) {
        *byte = (unsigned char)bytes[found - letters];
        return true;
    }
    if (c >= '0' && c <= '7') {
        value = (unsigned)(c - '0');
        for (int i = 0; i < 2 && p->at < p->end && *p->at >= '0' && *p->at <= '7'; i++) {
            value = value * 8 + (unsigned)(*p->at++ - '0');
        }
    } else if (c == 'x') {
        uint64_t wide;
        struct line_parser two = *p;
        char digits[5] = "0x";
        two.end = p->end - p->at < 2 ? p->end : p->at + 2;
        memcpy(digits + 2, p->at, (size_t)(two.end - two.at));
        two.at = digits;
        two.end = digits + 2 + (two.end - p->at);
        if (!take_number(&two, &wide, NULL) || two.at == digits + 1) {
            return fault(p, err, rest(p), "\\x needs a hexadecimal digit", NULL);
        }
        p->at += two.at - digits - 2;
        value = (unsigned)wide;
    } else {
        p->at -= c ? 2 : 1;
        return fault(p, err, rest(p), "an escape that C does not have", NULL);
    }
    if (value > 255) {
        return fault(p, err, rest(p), "an escape above 255", NULL);
    }
    *byte = (unsigned char)value;
    return true;
}

static bool take_string(struct line_parser *p, struct ssan_str *text, struct ssan_error *err)
{
    unsigned char *to = p->scratch;
    struct ssan_str whole = rest(p);
    if (!skip(p, '"')) {
        return fault(p, err, whole, "a string in quotes was expected", NULL);
    }
    while (!skip(p, '"')) {
        if (p->at == p->end) {
            return fault(p, err, whole, "the string has no closing quote", NULL);
        }
        if (!skip(p, '\\')) {
            *p->scratch++ = (unsigned char)*p->at++;
        } else if (!take_escape(p, p->scratch++, err)) {
            return false;
        }
    }
    *text = (struct ssan_str){(const char *)to, (uint32_t)(p->scratch - to)};
    return true;
}

/* ADDRESS+LENGTH or ADDRESS+LENGTH*STRIDExCOUNT */
static bool take_run(struct line_parser *p, struct ssan_run *run, struct ssan_error *err)
{
    struct ssan_str whole = rest(p);
    static const char form[] = "a run is ADDRESS+LENGTH or ADDRESS+LENGTH*STRIDExCOUNT";
    *run = (struct ssan_run){.count = 1};
    if (!take_number(p, &run->address, err)) {
        return false;
    }
    if (!skip(p, '+')) {
        return fault(p, err, whole, form, NULL);
    }
    if (!take_number(p, &run->length, err)) {
        return false;
    }
    if (!skip(p, '*')) {
        return true;
    }
    if (!take_number(p, &run->stride, err)) {
        return false;
    }
    return skip(p, 'x') ? take_number(p, &run->count, err) : fault(p, err, whole, form, NULL);
}

/* [element, element, ...] into the scratch memory. */
static bool take_list(struct line_parser *p, bool of_runs, const void **items, uint32_t *count,
                      struct ssan_error *err)
{
    size_t size = of_runs ? sizeof(struct ssan_run) : sizeof(uint64_t);
    *items = align_scratch(p);
    *count = 0;
    if (!skip(p, '[')) {
        return fault(p, err, rest(p), "a list in [ ] was expected", NULL);
    }
    skip_blanks(p);
    while (!skip(p, ']')) {
        if (*count && !skip(p, ',')) {
            return fault(p, err, rest(p), "`,` or `]` was expected", NULL);
        }
        skip_blanks(p);
        struct ssan_run run;
        uint64_t word;
        if (!(of_runs ? take_run(p, &run, err) : take_number(p, &word, err))) {
            return false;
        }
        memcpy(p->scratch, of_runs ? (void *)&run : (void *)&word, size);
        p->scratch += size;
        ++*count;
        skip_blanks(p);
    }
    return true;
}

static bool take_enum(struct line_parser *p, enum ssan_enum_table table, uint32_t *value,
                      struct ssan_error *err)
{
    struct ssan_str word = take_word(p);
    int found = ssan_enum_find(table, word.ptr, word.length);
    if (found < 0) {
        char known[LIST_ROOM] = "";
        const char *one;
        for (uint32_t i = 0; (one = ssan_enum_word(table, i)); i++) {
            list_add(known, one);
        }
        return fault(p, err, word.length ? word : rest(p), "not a word of this field", known);
    }
    *value = (uint32_t)found;
    return true;
}

static bool take_value(struct line_parser *p, const struct ssan_field *field, void *to,
                       struct ssan_error *err)
{
    struct ssan_str whole = rest(p), text;
    struct ssan_runs runs;
    struct ssan_u64s words;
    const void *items = NULL;
    uint64_t wide = 0;
    uint32_t narrow = 0, count = 0;
    switch (field->type) {
    case SSAN_FIELD_U32:
    case SSAN_FIELD_U64:
    case SSAN_FIELD_X64:
        if (!take_number(p, &wide, err)) {
            return false;
        }
        narrow = (uint32_t)wide;
        if (field->type == SSAN_FIELD_U32 && narrow != wide) {
            return fault(p, err, whole, "the number is above 32 bits", NULL);
        }
        memcpy(to, field->type == SSAN_FIELD_U32 ? (void *)&narrow : (void *)&wide,
               field->type == SSAN_FIELD_U32 ? sizeof narrow : sizeof wide);
        return true;
    case SSAN_FIELD_ENUM:
        if (!take_enum(p, field->table, &narrow, err)) {
            return false;
        }
        memcpy(to, &narrow, sizeof narrow);
        return true;
    case SSAN_FIELD_STR:
        if (!take_string(p, &text, err)) {
            return false;
        }
        memcpy(to, &text, sizeof text);
        return true;
    case SSAN_FIELD_RUNS:
    case SSAN_FIELD_U64S:
        if (!take_list(p, field->type == SSAN_FIELD_RUNS, &items, &count, err)) {
            return false;
        }
        runs = (struct ssan_runs){items, count};
        words = (struct ssan_u64s){items, count};
        memcpy(to, field->type == SSAN_FIELD_RUNS ? (void *)&runs : (void *)&words,
               field->type == SSAN_FIELD_RUNS ? sizeof runs : sizeof words);
        return true;
    }
    return false;
}

static bool unknown_field(const struct line_parser *p, const struct ssan_event_info *info,
                          struct ssan_str name, struct ssan_error *err)
{
    char known[LIST_ROOM] = "", what[80];
    for (size_t i = 0; i < info->field_count; i++) {
        list_add(known, info->fields[i].name);
    }
    if (site_offset(ssan_event_find(info->name, strlen(info->name)))) {
        list_add(known, "at");
    }
    snprintf(what, sizeof what, "not a field of `%s`", info->name);
    return fault(p, err, name, what, known);
}

static bool take_field(struct line_parser *p, const struct ssan_event_info *info, uint64_t *seen,
                       struct ssan_event *event, struct ssan_error *err)
{
    struct ssan_str name = take_word(p);
    if (name.length == 0 || !skip(p, '=')) {
        return fault(p, err, name.length ? name : rest(p), "FIELD=VALUE was expected", NULL);
    }
    size_t i = 0;
    while (i < info->field_count && (strlen(info->fields[i].name) != name.length ||
                                     memcmp(info->fields[i].name, name.ptr, name.length) != 0)) {
        i++;
    }
    if (i == info->field_count && name.length == 2 && memcmp(name.ptr, "at", 2) == 0 &&
        site_offset(event->kind)) {
        i = 63; /* `at` has its own mark in `seen`; no event has as many fields */
    } else if (i == info->field_count) {
        return unknown_field(p, info, name, err);
    }
    if (*seen >> i & 1) {
        return fault(p, err, name, "the field stands twice", NULL);
    }
    *seen |= UINT64_C(1) << i;
    bool ok = i == 63
                  ? take_string(p, &p->place, err)
                  : take_value(p, &info->fields[i], (char *)event + info->fields[i].offset, err);
    if (ok && p->at < p->end && !is_blank(*p->at) && *p->at != '#') {
        return fault(p, err, rest(p), "a blank was expected behind the value", NULL);
    }
    return ok;
}

static bool check(const struct line_parser *p, const struct ssan_event *event, uint64_t seen,
                  struct ssan_error *err)
{
    struct record_fault wrong;
    size_t site_at = site_offset(event->kind);
    uint32_t site = 0;
    if (!record_check(event, &wrong)) {
        struct ssan_str field = ssan_str(wrong.field ? wrong.field : wrong.event);
        return fault(p, err, field, wrong.what, NULL);
    }
    if (site_at) {
        memcpy(&site, (const char *)event + site_at, sizeof site);
    }
    if (seen >> 63 && site) {
        return fault(p, err, ssan_str("at"), "an event has either `site` or `at`", NULL);
    }
    if (seen >> 63 && p->place.length == 0) {
        return fault(p, err, ssan_str("at"), "FILE:LINE was expected", NULL);
    }
    return true;
}

bool line_parse(struct line_parser *p, struct ssan_event *event, struct ssan_error *err)
{
    uint64_t seen = 0;
    err->status = SSAN_OK;
    p->place = (struct ssan_str){0};
    skip_blanks(p);
    if (p->at == p->end || *p->at == '#') {
        return false;
    }
    struct ssan_str word = take_word(p);
    *event = (struct ssan_event){.kind = ssan_event_find(word.ptr, word.length)};
    const struct ssan_event_info *info = ssan_event_info((uint32_t)event->kind);
    if (!info) {
        char known[LIST_ROOM] = "";
        for (uint32_t kind = SSAN_EV_none + 1; kind < SSAN_EV_count; kind++) {
            list_add(known, ssan_event_info(kind)->name);
        }
        fault(p, err, word.length ? word : rest(p), "not an event", known);
        return true;
    }
    if (p->at < p->end && !is_blank(*p->at) && *p->at != '#') {
        fault(p, err, rest(p), "a blank was expected behind the event", NULL);
        return true;
    }
    for (skip_blanks(p); p->at < p->end && *p->at != '#'; skip_blanks(p)) {
        if (!take_field(p, info, &seen, event, err)) {
            return true;
        }
    }
    check(p, event, seen, err);
    return true;
}

bool place_parse(const struct line_parser *p, struct ssan_ev_line *line, struct ssan_error *err)
{
    const char *from = p->place.ptr, *end = from + p->place.length, *colon = NULL;
    static const char form[] = "at is FILE:LINE or FILE:LINE FUNCTION";
    uint64_t number = 0;
    /* The last `:` with a digit behind: file names may hold colons, functions (`a::b`) do too. */
    for (const char *c = from; c + 1 < end; c++) {
        if (*c == ':' && c[1] >= '0' && c[1] <= '9') {
            colon = c;
        }
    }
    if (!colon || colon == from) {
        return fault(p, err, p->place, form, NULL);
    }
    const char *at = colon + 1;
    for (; at < end && *at >= '0' && *at <= '9'; at++) {
        number = number * 10 + (unsigned)(*at - '0');
        if (number > UINT32_MAX) {
            return fault(p, err, p->place, form, NULL);
        }
    }
    if (at < end && *at != ' ') {
        return fault(p, err, p->place, form, NULL);
    }
    *line =
        (struct ssan_ev_line){.file = {from, (uint32_t)(colon - from)}, .line = (uint32_t)number};
    if (at < end) {
        line->function = (struct ssan_str){at + 1, (uint32_t)(end - at - 1)};
    }
    return true;
}

size_t site_offset(enum ssan_event_kind kind)
{
    const struct ssan_event_info *info = ssan_event_info((uint32_t)kind);
    if (kind == SSAN_EV_site || kind == SSAN_EV_line) {
        return 0; /* these make sites, they do not stand at one */
    }
    for (size_t i = 0; info && i < info->field_count; i++) {
        if (strcmp(info->fields[i].name, "site") == 0) {
            return info->fields[i].offset;
        }
    }
    return 0;
}
