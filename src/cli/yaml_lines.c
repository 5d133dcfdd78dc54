/* Walks the events of libyaml and notes lines at depth one (entries) and two (their keys).
 *
 * libcyaml, which reads the values, tells places only of what it has accepted. Cost: linear;
 * nesting is bounded by DEPTH_MAX, because libcyaml recurses over aliases. */
#include "cli/yaml_lines.h"

#include <string.h>
#include <yaml.h>

#define DEPTH_MAX 64

struct walk {
    struct yaml_lines *lines;
    unsigned depth;
    unsigned documents;
    bool list;    /* the document is a list */
    bool mapping; /* the entry is a mapping */
    bool is_key;  /* the next node of the entry is a key */
    struct ssan_error *err;
};

static enum ssan_status no_memory(struct ssan_error *err)
{
    return ssan_fail(err, SSAN_NO_MEMORY, 0, "out of memory");
}

/* A node begins, in the depth that it stands in. */
static enum ssan_status take_node(struct walk *walk, const yaml_event_t *event)
{
    struct yaml_lines *lines = walk->lines;
    const uint32_t line = (uint32_t)event->start_mark.line + 1;
    if (walk->depth == 0) {
        walk->list = event->type == YAML_SEQUENCE_START_EVENT;
        lines->filled = event->type != YAML_SCALAR_EVENT || event->data.scalar.length > 0;
    } else if (walk->depth == 1 && walk->list) {
        walk->mapping = walk->is_key = event->type == YAML_MAPPING_START_EVENT;
        if (!VEC_PUSH(&lines->entries, (struct yaml_entry){line, lines->keys.count, 0})) {
            return no_memory(walk->err);
        }
    } else if (walk->depth == 2 && walk->list && walk->mapping) {
        if (walk->is_key) {
            const bool text = event->type == YAML_SCALAR_EVENT;
            struct yaml_key key = {
                arena_strdup(&lines->arena, text ? (const char *)event->data.scalar.value : ""),
                line};
            if (!key.name || !VEC_PUSH(&lines->keys, key)) {
                return no_memory(walk->err);
            }
            lines->entries.items[lines->entries.count - 1].key_count++;
        }
        walk->is_key = !walk->is_key;
    }
    return SSAN_OK;
}

static enum ssan_status take_event(struct walk *walk, const yaml_event_t *event)
{
    enum ssan_status status = SSAN_OK;
    const uint32_t line = (uint32_t)event->start_mark.line + 1;
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (walk->documents++ > 0) {
            return ssan_fail(walk->err, SSAN_FORMAT, line, "a second document begins here");
        }
        break;
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        status = take_node(walk, event);
        if (++walk->depth > DEPTH_MAX && status == SSAN_OK) {
            status = ssan_fail(walk->err, SSAN_FORMAT, line, "nested too deeply");
        }
        break;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        walk->depth--;
        break;
    case YAML_ALIAS_EVENT:
        return ssan_fail(walk->err, SSAN_FORMAT, line, "an alias: write the entry out");
    case YAML_SCALAR_EVENT:
        status = take_node(walk, event);
        break;
    default:
        break;
    }
    return status;
}

/* What the parser has refused, and where; bytes that are no text have an offset only. */
static enum ssan_status refuse(const yaml_parser_t *parser, const char *text, size_t length,
                               struct ssan_error *err)
{
    uint64_t line = parser->problem_mark.line + 1;
    size_t i;
    if (parser->error == YAML_MEMORY_ERROR) {
        return no_memory(err);
    }
    if (parser->error == YAML_READER_ERROR) {
        for (i = 0, line = 1; i < length && i < parser->problem_offset; i++) {
            line += text[i] == '\n';
        }
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
        return no_memory(err);
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

uint32_t yaml_lines_find(const struct yaml_lines *lines, size_t entry, const char *key)
{
    const struct yaml_entry *found;
    size_t i;
    if (entry >= lines->entries.count) {
        return 0;
    }
    found = &lines->entries.items[entry];
    for (i = found->key_count; key && i > 0; i--) {
        const struct yaml_key *name = &lines->keys.items[found->first_key + i - 1];
        if (strcmp(name->name, key) == 0) {
            return name->line;
        }
    }
    return found->line;
}

void yaml_lines_finish(struct yaml_lines *lines)
{
    VEC_FREE(&lines->entries);
    VEC_FREE(&lines->keys);
    arena_finish(&lines->arena);
}
