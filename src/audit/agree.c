/* Each report counts the blocks of one name in its own order of telling, so "l" of one may be "l#2"
 * of another. Naive model: all pairs of rows; cost quadratic in the blocks that reports name. */
#include "audit/agree.h"

#include "base/arena.h"
#include "base/strbuf.h"

#include <stdlib.h>
#include <string.h>

static bool is_same(const struct report_buffer *a, const struct report_buffer *b)
{
    return a->alloc == b->alloc && (a->alloc != 0 || a->address == b->address);
}

static const struct report_buffer *find_block(const struct report *report,
                                              const struct report_buffer *block)
{
    for (size_t i = 0; i < report->buffer_count; i++) {
        if (is_same(&report->buffers[i], block)) {
            return &report->buffers[i];
        }
    }
    return NULL;
}

/* Whether a block other than `block` has the name. */
static bool is_taken(const struct report *report, const struct report_buffer *block,
                     const char *name)
{
    for (size_t i = 0; i < report->buffer_count; i++) {
        if (!is_same(&report->buffers[i], block) && strcmp(report->buffers[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* The length of a name without "#2". */
static size_t plain_length(const char *name)
{
    const char *sign = strrchr(name, '#');
    const bool numbered = sign && sign[1] && sign[1 + strspn(sign + 1, "0123456789")] == '\0';
    return numbered ? (size_t)(sign - name) : strlen(name);
}

static bool rename_block(const struct report *report, struct report *other,
                         struct report_buffer *block)
{
    const char *old = block->name;
    bool ok = true;
    for (unsigned n = 2;
         ok && (is_taken(report, block, block->name) || is_taken(other, block, block->name)); n++) {
        struct strbuf text = {0};
        strbuf_printf(&text, "%.*s#%u", (int)plain_length(old), old, n);
        block->name = strbuf_keep(&text, &other->arena);
        ok = block->name != NULL;
        block->name = ok ? block->name : old;
    }
    return ok;
}

bool agree_on_blocks(const struct report *report, struct report *other)
{
    bool ok = true;
    for (size_t i = 0; i < other->buffer_count; i++) {
        const struct report_buffer *known = find_block(report, &other->buffers[i]);
        other->buffers[i].name =
            known ? arena_strdup(&other->arena, known->name) : other->buffers[i].name;
        if (!other->buffers[i].name) {
            other->buffers[i].name = "";
            ok = false;
        }
    }
    for (size_t i = 0; ok && i < other->buffer_count; i++) {
        if (!find_block(report, &other->buffers[i])) {
            ok = rename_block(report, other, &other->buffers[i]);
        }
    }
    return ok;
}
