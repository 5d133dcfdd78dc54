/* Reads and prints gates. Invariant: what is printed reads back to the same gate. */
#include "trace/gate_words.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* "name=N" at the beginning of `text`, N between least and most: behind it, NULL otherwise. */
static const char *read_value(const char *text, const char *name, uint32_t least, uint32_t most,
                              uint32_t *value)
{
    size_t length = strlen(name);
    uint64_t number = 0;
    const char *at = text + length + 1;
    if (strncmp(text, name, length) != 0 || text[length] != '=' || !isdigit((unsigned char)*at)) {
        return NULL;
    }
    for (; isdigit((unsigned char)*at); at++) {
        number = number * 10 + (uint64_t)(*at - '0');
        if (number > most) {
            return NULL;
        }
    }
    if (number < least) {
        return NULL;
    }
    *value = (uint32_t)number;
    return at;
}

static const char *read_one(const char *text, struct gate_words *gate)
{
    const char *end = read_value(text, "limit", 1, GATE_MOST_MS, &gate->limit_ms);
    if (!end) {
        end = read_value(text, "grace", 0, GATE_MOST_MS, &gate->grace_ms);
    }
    return end ? end : read_value(text, "blocks", 1, GATE_MOST_HELD, &gate->blocks);
}

/* "s2.1" or "a1.3"; behind it, NULL otherwise. */
static const char *read_until(const char *text, struct gate_words *gate)
{
    char item[GATE_WORDS_ROOM];
    const char *end;
    gate->by_host = text[0] == 'a';
    snprintf(item, sizeof item, "%c%.100s", gate->by_host ? 's' : text[0], text[0] ? text + 1 : "");
    return plan_item_read(item, &gate->until, &end) ? text + (end - item) : NULL;
}

enum ssan_status gate_words_read(struct gate_words *gate, const char *words, struct ssan_error *err)
{
    struct gate_words read = {.limit_ms = GATE_LIMIT_MS, .grace_ms = GATE_GRACE_MS};
    const char *at;
    if (!plan_item_read(words, &read.held, &at) || *at != ':' ||
        !(at = read_until(at + 1, &read)) || (*at != '\0' && *at != ',')) {
        return ssan_fail(err, SSAN_USAGE, 0,
                         "a gate is written as s1.2:s2.1 (hold item 2 of stream 1 until item 1 of "
                         "stream 2 is done), not '%.200s'",
                         words);
    }
    while (*at == ',') {
        const char *end = read_one(at + 1, &read);
        if (!end || (*end != '\0' && *end != ',')) {
            return ssan_fail(err, SSAN_USAGE, 0,
                             "behind a gate's items may stand limit=MS, grace=MS (up to %d) and "
                             "blocks=N (up to %d), not '%.200s'",
                             GATE_MOST_MS, GATE_MOST_HELD, at + 1);
        }
        at = end;
    }
    if (!read.by_host && read.held.stream == read.until.stream && read.held.seq <= read.until.seq) {
        return ssan_fail(err, SSAN_USAGE, 0,
                         "a gate can't hold an item until one of the same stream is done that "
                         "comes behind it: '%.200s'",
                         words);
    }
    *gate = read;
    return SSAN_OK;
}

void gate_words_until(const struct gate_words *gate, char *text, size_t room)
{
    const struct plan_item until = {gate->until.stream, gate->until.seq, gate->by_host};
    snprintf(text, room, "%s", plan_item_text(&until).text);
}

void gate_words_print(const struct gate_words *gate, char *text, size_t room)
{
    char until[32], limit[24] = "", grace[24] = "", blocks[24] = "";
    gate_words_until(gate, until, sizeof until);
    if (gate->limit_ms != GATE_LIMIT_MS) {
        snprintf(limit, sizeof limit, ",limit=%" PRIu32, gate->limit_ms);
    }
    if (gate->grace_ms != GATE_GRACE_MS) {
        snprintf(grace, sizeof grace, ",grace=%" PRIu32, gate->grace_ms);
    }
    if (gate->blocks) {
        snprintf(blocks, sizeof blocks, ",blocks=%" PRIu32, gate->blocks);
    }
    snprintf(text, room, "%s:%s%s%s%s", plan_item_text(&gate->held).text, until, limit, grace,
             blocks);
}
