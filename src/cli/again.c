/* Lines come behind the last event, where a copy has them too, so that the positions of all others
 * are those that the engine counted. Cost of the trace itself: its sites are resolved once more,
 * and the lines are held in memory. */
#include "cli/again.h"

#include "symbol/sites.h"

#include <string.h>

/* A reader of the copy; NULL: there is none that is good. */
static struct reader *open_copy(const struct feed *feed)
{
    struct reader *reader = NULL;
    if (feed->kept_path && feed->keep_error.status == SSAN_OK &&
        reader_open(&reader, feed->kept_path, NULL) == SSAN_OK) {
        return reader;
    }
    return NULL;
}

static bool own(struct again *again, struct ssan_str *text)
{
    char *copy = arena_alloc(&again->arena, (size_t)text->length + 1);
    if (!copy) {
        return false;
    }
    if (text->length > 0) {
        memcpy(copy, text->ptr, text->length);
    }
    copy[text->length] = '\0';
    text->ptr = copy;
    return true;
}

static bool take_line(void *self, const struct ssan_event *event)
{
    struct again *again = self;
    struct ssan_event line = *event;
    return own(again, &line.line.file) && own(again, &line.line.function) &&
           own(again, &line.line.text) && VEC_PUSH(&again->lines, line);
}

static enum ssan_next next(struct ssan_source *self, struct ssan_event *event,
                           struct ssan_error *err)
{
    struct again *again = (struct again *)self;
    struct feed *feed = again->feed;
    enum ssan_next state = ssan_next(reader_source(feed->reader), event, err);
    if (state == SSAN_NEXT_EVENT) {
        names_tidy(&feed->names, event);
        if (feed->sites) {
            sites_shorten(feed->sites, event);
        }
    } else if (state == SSAN_NEXT_END || state == SSAN_NEXT_CUT) {
        if (again->failed) {
            ssan_no_memory(err);
            return SSAN_NEXT_ERROR;
        }
        if (again->told < again->lines.count) {
            *event = again->lines.items[again->told++];
            return SSAN_NEXT_EVENT;
        }
    }
    return state;
}

static bool go_back(struct ssan_source *self)
{
    struct again *again = (struct again *)self;
    struct ssan_source *source = reader_source(again->feed->reader);
    again->told = 0;
    return source->rewind(source);
}

struct ssan_source *again_open(struct again *again, struct feed *feed)
{
    *again = (struct again){
        .source = {.next = next, .rewind = go_back}, .feed = feed, .copy = open_copy(feed)};
    if (again->copy) {
        return reader_source(again->copy);
    }
    again->failed = feed->sites && !sites_resolve(feed->sites, take_line, again);
    return &again->source;
}

void again_close(struct again *again)
{
    reader_close(again->copy);
    VEC_FREE(&again->lines);
    arena_finish(&again->arena);
}
