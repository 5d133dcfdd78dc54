/* Reads suppression files: libyaml for the syntax and the lines, libcyaml for the schema, then what
 * a schema can't say.
 *
 * Invariant: a file is taken whole or not at all. libcyaml's message is worded anew where it is one
 * of those that happen; its own words stand otherwise. */
#include "cli/suppress_file.h"

#include "cli/yaml_lines.h"

#include "core/check.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/similar.h"
#include "base/strbuf.h"

#include <cyaml/cyaml.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_BYTES_MAX (4u << 20)
#define TEXT_MAX       4096
#define KEYS           "rule, id, buffer, kernel, reason"

/* One entry as libcyaml fills it. */
struct raw {
    char *rule, *id, *buffer, *kernel, *reason;
};

static const cyaml_schema_field_t fields[] = {
    CYAML_FIELD_STRING_PTR("rule", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct raw, rule, 1,
                           TEXT_MAX),
    CYAML_FIELD_STRING_PTR("id", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct raw, id, 1,
                           TEXT_MAX),
    CYAML_FIELD_STRING_PTR("buffer", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct raw, buffer,
                           1, TEXT_MAX),
    CYAML_FIELD_STRING_PTR("kernel", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct raw, kernel,
                           1, TEXT_MAX),
    CYAML_FIELD_STRING_PTR("reason", CYAML_FLAG_POINTER, struct raw, reason, 1, TEXT_MAX),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t entry_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct raw, fields)};
static const cyaml_schema_value_t list_schema = {
    CYAML_VALUE_SEQUENCE(CYAML_FLAG_POINTER, struct raw, &entry_schema, 0, CYAML_UNLIMITED)};

/* What libcyaml said: its first message, and where the backtrace behind it begins. */
struct said {
    char message[200];
    char field[64]; /* "" unless the place is a field's value */
    unsigned entry; /* from 1, 0: unknown */
};

/* The memory of libcyaml is ours, so that tests can let it run out. */
static void *allocate(void *self, void *memory, size_t size)
{
    (void)self;
    if (size == 0) {
        mem_free(memory);
        return NULL;
    }
    return mem_resize(memory, 1, size);
}

static void listen(cyaml_log_t level, void *self, const char *format, va_list args)
{
    struct said *said = self;
    char line[300];
    const char *found;
    (void)level;
    vsnprintf(line, sizeof line, format, args);
    line[strcspn(line, "\n")] = '\0';
    if (!said->message[0]) {
        found = strncmp(line, "Load: ", 6) == 0 ? line + 6 : line;
        snprintf(said->message, sizeof said->message, "%.199s", found);
    } else if ((found = strstr(line, "in mapping field '")) && !said->field[0] && !said->entry) {
        found += strlen("in mapping field '");
        snprintf(said->field, sizeof said->field, "%.*s", (int)strcspn(found, "'"), found);
    } else if ((found = strstr(line, "in sequence entry '")) && !said->entry) {
        said->entry = (unsigned)strtoul(found + strlen("in sequence entry '"), NULL, 10);
    }
}

/* "name:line: text" */
static enum ssan_status blame(struct ssan_error *err, const char *name, uint32_t line,
                              const char *text)
{
    if (line > 0) {
        return ssan_fail(err, SSAN_FORMAT, line, "%.150s:%" PRIu32 ": %.340s", name, line, text);
    }
    return ssan_fail(err, SSAN_FORMAT, 0, "%.150s: %.340s", name, text);
}

static void add_guess(struct strbuf *text, const char *word, const char *const *words, size_t count)
{
    const char *near = similar_word(word, words, count);
    if (near) {
        strbuf_printf(text, "; did you mean '%s'?", near);
    }
}

/* The schema did not fit. */
static enum ssan_status blame_schema(struct ssan_error *err, const char *name,
                                     const struct yaml_lines *lines, cyaml_err_t error,
                                     const struct said *said)
{
    static const char *const keys[] = {"rule", "id", "buffer", "kernel", "reason"};
    const char *colon = strrchr(said->message, ':');
    const char *word = colon && colon[1] == ' ' ? colon + 2 : said->message;
    const char *key = NULL;
    struct strbuf text = {0};
    enum ssan_status status;
    if (error == CYAML_ERR_INVALID_KEY) {
        key = word;
        strbuf_printf(&text, "there is no key '%s'; an entry has %s", word, KEYS);
        add_guess(&text, word, keys, sizeof keys / sizeof *keys);
    } else if (error == CYAML_ERR_MAPPING_FIELD_MISSING) {
        strbuf_printf(&text, "the entry has no '%s', which each one needs", word);
    } else if (error == CYAML_ERR_STRING_LENGTH_MIN) {
        key = said->field;
        strbuf_printf(&text, "'%s' is empty", said->field);
    } else if (error == CYAML_ERR_STRING_LENGTH_MAX) {
        key = said->field;
        strbuf_printf(&text, "'%s' is longer than %d bytes", said->field, TEXT_MAX);
    } else if (strstr(said->message, "already seen")) {
        key = word;
        strbuf_printf(&text, "'%s' stands twice in one entry", word);
    } else if (said->entry == 0) {
        strbuf_puts(&text, "a list of entries is wanted, each beginning with '- '");
    } else if (said->field[0]) {
        key = said->field;
        strbuf_printf(&text, "'%s' takes a text", said->field);
    } else {
        strbuf_printf(&text, "an entry with the keys " KEYS " is wanted");
    }
    status = blame(err, name, said->entry ? yaml_lines_find(lines, said->entry - 1, key) : 1,
                   strbuf_text(&text));
    strbuf_finish(&text);
    return status;
}

static bool is_id(const char *id)
{
    return strlen(id) == 8 && strspn(id, "0123456789abcdef") == 8;
}

static enum ssan_status check_rule(struct ssan_error *err, const char *name, uint32_t line,
                                   const char *rule)
{
    const char *ids[CHECK_COUNT];
    struct strbuf text = {0};
    enum ssan_status status;
    int i;
    for (i = 0; i < CHECK_COUNT; i++) {
        ids[i] = check_info((enum check)i)->id;
        if (strcmp(ids[i], rule) == 0) {
            return SSAN_OK;
        }
    }
    strbuf_printf(&text, "'rule': there is no check '%.60s'", rule);
    add_guess(&text, rule, ids, CHECK_COUNT);
    status = blame(err, name, line, strbuf_text(&text));
    strbuf_finish(&text);
    return status;
}

/* What a schema can't say of one entry. */
static enum ssan_status check_entry(struct ssan_error *err, const char *name,
                                    const struct yaml_lines *lines, size_t index,
                                    const struct raw *raw)
{
    char text[200];
    if (!raw->rule && !raw->id && !raw->buffer && !raw->kernel) {
        return blame(err, name, yaml_lines_find(lines, index, NULL),
                     "the entry would hide everything: it needs 'rule', 'id', 'buffer' or "
                     "'kernel'");
    }
    if (raw->id && !is_id(raw->id)) {
        snprintf(text, sizeof text,
                 "'id' takes the 8 digits of a finding, as \"5b1f20c4\", not '%.60s'", raw->id);
        return blame(err, name, yaml_lines_find(lines, index, "id"), text);
    }
    return raw->rule ? check_rule(err, name, yaml_lines_find(lines, index, "rule"), raw->rule)
                     : SSAN_OK;
}

/* A copy in the arena; NULL for NULL, and `*good` false when out of memory. */
static const char *kept(struct arena *arena, const char *text, bool *good)
{
    char *copy = text ? arena_strdup(arena, text) : NULL;
    *good &= !text || copy;
    return copy;
}

static enum ssan_status take_entries(struct suppress_list *list, const char *name,
                                     const struct yaml_lines *lines, const struct raw *raws,
                                     unsigned count, struct ssan_error *err)
{
    const size_t before = list->entries.count;
    enum ssan_status status = SSAN_OK;
    bool good = true;
    const char *file = kept(&list->arena, name, &good);
    unsigned i;
    for (i = 0; i < count && status == SSAN_OK; i++) {
        const struct raw *raw = &raws[i];
        struct suppression entry = {.file = file,
                                    .line = yaml_lines_find(lines, i, NULL),
                                    .rule = kept(&list->arena, raw->rule, &good),
                                    .id = kept(&list->arena, raw->id, &good),
                                    .buffer = kept(&list->arena, raw->buffer, &good),
                                    .kernel = kept(&list->arena, raw->kernel, &good),
                                    .reason = kept(&list->arena, raw->reason, &good)};
        status = check_entry(err, name, lines, i, raw);
        if (status == SSAN_OK && (!good || !VEC_PUSH(&list->entries, entry))) {
            status = ssan_fail(err, SSAN_NO_MEMORY, 0, "out of memory");
        }
    }
    if (status) {
        list->entries.count = before;
    }
    return status;
}

enum ssan_status suppress_file_parse(struct suppress_list *list, const char *name, const char *text,
                                     size_t length, struct ssan_error *err)
{
    struct yaml_lines lines = {0};
    struct ssan_error inner = {0};
    struct said said = {0};
    const cyaml_config_t how = {
        .log_fn = listen, .log_ctx = &said, .mem_fn = allocate, .log_level = CYAML_LOG_ERROR};
    struct raw *raws = NULL;
    unsigned count = 0;
    cyaml_err_t error;
    enum ssan_status status = yaml_lines_read(&lines, text, length, &inner);
    if (status == SSAN_FORMAT) {
        status = blame(err, name, (uint32_t)inner.position, inner.text);
    } else if (status) {
        ssan_fail(err, status, 0, "%s", inner.text);
    }
    if (status == SSAN_OK && lines.filled) {
        error = cyaml_load_data((const uint8_t *)text, length, &how, &list_schema,
                                (cyaml_data_t **)&raws, &count);
        if (error == CYAML_ERR_OOM) {
            status = ssan_fail(err, SSAN_NO_MEMORY, 0, "out of memory");
        } else if (error != CYAML_OK) {
            status = blame_schema(err, name, &lines, error, &said);
        } else {
            status = take_entries(list, name, &lines, raws, count, err);
            cyaml_free(&how, &list_schema, raws, count);
        }
    }
    yaml_lines_finish(&lines);
    return status;
}

enum ssan_status suppress_file_read(struct suppress_list *list, const char *path,
                                    struct ssan_error *err)
{
    struct strbuf text = {0};
    struct ssan_error inner = {0};
    enum ssan_status status = file_read(&text, path, FILE_BYTES_MAX, &inner);
    if (status == SSAN_OK) {
        status = suppress_file_parse(list, path, strbuf_text(&text), text.length, err);
    } else if (status == SSAN_FORMAT) {
        status = blame(err, path, 0, "longer than 4 MB: no file of suppressions");
    } else {
        ssan_fail(err, status, 0, "can't read the suppressions in %.480s", inner.text);
    }
    strbuf_finish(&text);
    return status;
}

void suppress_list_finish(struct suppress_list *list)
{
    VEC_FREE(&list->entries);
    arena_finish(&list->arena);
}
