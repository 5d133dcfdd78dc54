/* Walks the events of libyaml and notes the line of each key and each entry of a list.
 *
 * libcyaml, which reads the values, tells places only of what it has accepted. Cost: linear in the
 * text for the walk, in the number of places for a look-up; nesting is bounded by DEPTH_MAX,
 * because libcyaml recurses. */
#include "yaml/lines.h"

#include <string.h>
#include <yaml.h>

#define DEPTH_MAX 64

/* One mapping or list that is open. */
struct level {
    const char *path;
    bool list;
    bool is_key;      /* of a mapping: the next node is a key */
    const char *key;  /* of a mapping: the path of the last key */
    unsigned entries; /* of a list */
};

struct walk {
    struct yaml_lines *lines;
    struct level levels[DEPTH_MAX];
    unsigned depth;
    unsigned documents;
    struct ssan_error *err;
};

/* Notes a place; its path, or NULL when out of memory. */
static const char *note(struct walk *walk, struct strbuf *path, uint32_t line)
{
    struct yaml_lines *lines = walk->lines;
    struct yaml_place place = {strbuf_keep(path, &lines->arena), line, YAML_FORM_TEXT, NULL};
    return place.path && VEC_PUSH(&lines->places, place) ? place.path : NULL;
}

static enum yaml_form form_of(const yaml_event_t *event)
{
    return event->type == YAML_SCALAR_EVENT           ? YAML_FORM_TEXT
           : event->type == YAML_SEQUENCE_START_EVENT ? YAML_FORM_LIST
                                                      : YAML_FORM_KEYS;
}

/* A node begins: the path that it has, NULL when out of memory; `*key` when it is a key. */
static const char *place_node(struct walk *walk, const yaml_event_t *event, bool *key)
{
    const uint32_t line = (uint32_t)event->start_mark.line + 1;
    struct strbuf path = {0};
    *key = false;
    if (walk->depth == 0) {
        walk->lines->filled = event->type != YAML_SCALAR_EVENT || event->data.scalar.length > 0;
        walk->lines->form = form_of(event);
        return "";
    }
    struct level *level = &walk->levels[walk->depth - 1];
    if (level->list) {
        strbuf_printf(&path, "%s[%u]", level->path, level->entries++);
        return note(walk, &path, line);
    }
    *key = level->is_key;
    level->is_key = !level->is_key;
    if (*key) {
        const bool text = event->type == YAML_SCALAR_EVENT;
        strbuf_printf(&path, "%s%s%s", level->path, level->path[0] ? "." : "",
                      text ? (const char *)event->data.scalar.value : "");
        level->key = note(walk, &path, line);
    }
    return level->key;
}

/* The node that is no key is the value of the place that was noted last. */
static bool note_value(struct walk *walk, const yaml_event_t *event)
{
    struct yaml_lines *lines = walk->lines;
    if (walk->depth == 0) {
        return true;
    }
    struct yaml_place *place = &lines->places.items[lines->places.count - 1];
    place->form = form_of(event);
    if (place->form != YAML_FORM_TEXT) {
        return true;
    }
    place->text = arena_strndup(&lines->arena, (const char *)event->data.scalar.value,
                                event->data.scalar.length);
    return place->text != NULL;
}

/* A text that is a key, an entry or a value. */
static enum ssan_status take_text(struct walk *walk, const yaml_event_t *event)
{
    bool key;
    if (memchr(event->data.scalar.value, '\0', event->data.scalar.length)) {
        return ssan_fail(walk->err, SSAN_FORMAT, event->start_mark.line + 1,
                         "a character 0, which would end the text, stands in it");
    }
    return place_node(walk, event, &key) && (key || note_value(walk, event))
               ? SSAN_OK
               : ssan_no_memory(walk->err);
}

/* A mapping or list begins. */
static enum ssan_status open_level(struct walk *walk, const yaml_event_t *event)
{
    bool key;
    const char *path = place_node(walk, event, &key);
    if (!path || (!key && !note_value(walk, event))) {
        return ssan_no_memory(walk->err);
    }
    if (walk->depth == DEPTH_MAX) {
        return ssan_fail(walk->err, SSAN_FORMAT, event->start_mark.line + 1, "nested too deeply");
    }
    walk->levels[walk->depth++] = (struct level){
        .path = path, .list = event->type == YAML_SEQUENCE_START_EVENT, .is_key = true};
    return SSAN_OK;
}

static enum ssan_status take_event(struct walk *walk, const yaml_event_t *event)
{
    const uint32_t line = (uint32_t)event->start_mark.line + 1;
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (walk->documents++ > 0) {
            return ssan_fail(walk->err, SSAN_FORMAT, line, "a second document begins here");
        }
        return SSAN_OK;
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        return open_level(walk, event);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        walk->depth--;
        return SSAN_OK;
    case YAML_ALIAS_EVENT:
        return ssan_fail(walk->err, SSAN_FORMAT, line, "an alias: write the entry out");
    case YAML_SCALAR_EVENT:
        return take_text(walk, event);
    default:
        return SSAN_OK;
    }
}

/* Whether a tab stands at the mark, which counts characters of UTF-8: the parser's own words do not
 * name it, and it isn't seen. */
static bool is_tab(const char *text, size_t length, const yaml_mark_t *mark)
{
    size_t i = 0;
    for (size_t left = mark->index; i < length && left > 0; left--) {
        i++;
        while (i < length && ((unsigned char)text[i] & 0xc0) == 0x80) {
            i++;
        }
    }
    return i < length && text[i] == '\t';
}

/* What the parser has refused, and where; bytes that are no text have an offset only. */
static enum ssan_status refuse(const yaml_parser_t *parser, const char *text, size_t length,
                               struct ssan_error *err)
{
    uint64_t line = parser->problem_mark.line + 1;
    size_t i;
    if (parser->error == YAML_MEMORY_ERROR) {
        return ssan_no_memory(err);
    }
    if (parser->error == YAML_READER_ERROR) {
        for (i = 0, line = 1; i < length && i < parser->problem_offset; i++) {
            line += text[i] == '\n';
        }
    }
    if (parser->error == YAML_SCANNER_ERROR && is_tab(text, length, &parser->problem_mark)) {
        return ssan_fail(err, SSAN_FORMAT, line, "a tab where only spaces may stand");
    }
    return ssan_fail(err, SSAN_FORMAT, line, "%s", parser->problem ? parser->problem : "no YAML");
}

enum ssan_status yaml_lines_read(struct yaml_lines *lines, const char *text, size_t length,
                                 struct ssan_error *err)
{
    struct walk walk = {.lines = lines, .err = err};
    yaml_parser_t parser;
    enum ssan_status status = SSAN_OK;
    bool end = false;
    if (!yaml_parser_initialize(&parser)) {
        return ssan_no_memory(err);
    }
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    while (status == SSAN_OK && !end) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            status = refuse(&parser, text, length, err);
            break;
        }
        end = event.type == YAML_STREAM_END_EVENT;
        status = take_event(&walk, &event);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return status;
}

uint32_t yaml_lines_find(const struct yaml_lines *lines, const char *path)
{
    size_t length = strlen(path);
    while (length > 0) {
        for (size_t i = lines->places.count; i > 0; i--) {
            const struct yaml_place *place = &lines->places.items[i - 1];
            if (strlen(place->path) == length && memcmp(place->path, path, length) == 0) {
                return place->line;
            }
        }
        do { /* what it lies in */
            length--;
        } while (length > 0 && path[length] != '.' && path[length] != '[');
    }
    return 1;
}

const char *yaml_lines_text(const struct yaml_lines *lines, const char *path)
{
    for (size_t i = lines->places.count; i > 0; i--) {
        if (strcmp(lines->places.items[i - 1].path, path) == 0) {
            return lines->places.items[i - 1].text;
        }
    }
    return NULL;
}

void yaml_lines_finish(struct yaml_lines *lines)
{
    VEC_FREE(&lines->places);
    arena_finish(&lines->arena);
}
