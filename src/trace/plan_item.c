/* Items and calls of schedules in words: "s1.2", "a1.2", "t1.3q2".
 *
 * Invariant: what is printed reads back to the same item. Cost: O(length). */
#include "trace/plan.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

bool plan_number_read(const char **text, uint32_t *number)
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
    if (!plan_number_read(text, number) || **text != '.') {
        return false;
    }
    ++*text;
    return true;
}

bool plan_item_read(const char *text, struct plan_item *item, const char **end)
{
    *end = text;
    item->by_host = false;
    return read_owner(end, 's', &item->stream) && plan_number_read(end, &item->seq);
}

bool plan_access_read(const char *text, struct plan_item *item, const char **end)
{
    *end = text;
    item->by_host = true;
    return read_owner(end, 'a', &item->stream) && plan_number_read(end, &item->seq);
}

uint64_t plan_item_key(const struct plan_item *item)
{
    /* numbers of streams and threads are far below 2^31 in any run */
    return (uint64_t)(item->stream ^ (item->by_host ? UINT32_C(1) << 31 : 0)) << 32 | item->seq;
}

bool plan_stream_read(const char *word, uint32_t *stream)
{
    const char *digits = word + 1;
    return word[0] == 's' && plan_number_read(&digits, stream) && *digits == '\0';
}

bool plan_call_read(const char *text, struct plan_call *call, const char **end)
{
    if (!read_owner(&text, 't', &call->thread)) {
        return false;
    }
    call->query = 0;
    if (*text == '0') { /* queries in front of the first call */
        call->number = 0;
        text++;
    } else if (!plan_number_read(&text, &call->number)) {
        return false;
    }
    if (*text == 'q') {
        text++;
        if (!plan_number_read(&text, &call->query)) {
            return false;
        }
    }
    *end = text;
    return call->number != 0 || call->query != 0;
}

struct plan_item_text plan_item_text(const struct plan_item *item)
{
    struct plan_item_text text;
    snprintf(text.text, sizeof text.text, "%c%" PRIu32 ".%" PRIu32, item->by_host ? 'a' : 's',
             item->stream, item->seq);
    return text;
}
