/* Reads suppression files: the schema, then what a schema can't say.
 *
 * Invariant: a file is taken whole or not at all. */
#include "cli/suppress_file.h"

#include "yaml/load.h"

#include "core/check.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/similar.h"
#include "base/strbuf.h"

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
                                     const struct yaml_fault *fault)
{
    static const char *const keys[] = {"rule", "id", "buffer", "kernel", "reason"};
    const char *dot = strchr(fault->path, '.');
    const char *field = dot ? dot + 1 : "", *word = fault->word;
    struct strbuf text = {0};
    enum ssan_status status;
    if (!fault->path[0]) {
        strbuf_puts(&text, "a list of entries is wanted, each beginning with '- '");
    } else if (fault->kind == YAML_FAULT_UNKNOWN_KEY) {
        strbuf_printf(&text, "there is no key '%s'; an entry has %s", word, KEYS);
        add_guess(&text, word, keys, sizeof keys / sizeof *keys);
    } else if (fault->kind == YAML_FAULT_MISSING_KEY) {
        strbuf_printf(&text, "the entry has no '%s', which each one needs", word);
    } else if (fault->kind == YAML_FAULT_EMPTY) {
        strbuf_printf(&text, "'%s' is empty", field);
    } else if (fault->kind == YAML_FAULT_LONG) {
        strbuf_printf(&text, "'%s' is longer than %d bytes", field, TEXT_MAX);
    } else if (fault->kind == YAML_FAULT_TWICE) {
        strbuf_printf(&text, "'%s' stands twice in one entry", word);
    } else if (field[0]) {
        strbuf_printf(&text, "'%s' takes a text", field);
    } else {
        strbuf_printf(&text, "an entry with the keys " KEYS " is wanted");
    }
    status = blame(err, name, fault->line, strbuf_text(&text));
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

/* The line of an entry, or of one of its keys. */
static uint32_t line_of(const struct yaml_lines *lines, size_t index, const char *key)
{
    char path[64];
    snprintf(path, sizeof path, key ? "[%zu].%s" : "[%zu]", index, key);
    return yaml_lines_find(lines, path);
}

/* What a schema can't say of one entry. */
static enum ssan_status check_entry(struct ssan_error *err, const char *name,
                                    const struct yaml_lines *lines, size_t index,
                                    const struct raw *raw)
{
    char text[200];
    if (!raw->rule && !raw->id && !raw->buffer && !raw->kernel) {
        return blame(err, name, line_of(lines, index, NULL),
                     "the entry would hide everything: it needs 'rule', 'id', 'buffer' or "
                     "'kernel'");
    }
    if (raw->id && !is_id(raw->id)) {
        snprintf(text, sizeof text,
                 "'id' takes the 8 digits of a finding, as \"5b1f20c4\", not '%.60s'", raw->id);
        return blame(err, name, line_of(lines, index, "id"), text);
    }
    return raw->rule ? check_rule(err, name, line_of(lines, index, "rule"), raw->rule) : SSAN_OK;
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
                                    .line = line_of(lines, i, NULL),
                                    .rule = kept(&list->arena, raw->rule, &good),
                                    .id = kept(&list->arena, raw->id, &good),
                                    .buffer = kept(&list->arena, raw->buffer, &good),
                                    .kernel = kept(&list->arena, raw->kernel, &good),
                                    .reason = kept(&list->arena, raw->reason, &good)};
        status = check_entry(err, name, lines, i, raw);
        if (status == SSAN_OK && (!good || !VEC_PUSH(&list->entries, entry))) {
            status = ssan_no_memory(err);
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
    struct yaml_fault fault = {0};
    struct ssan_error inner = {0};
    void *raws = NULL;
    unsigned count = 0;
    enum ssan_status status =
        yaml_load(&raws, &count, &list_schema, text, length, &lines, &fault, &inner);
    if (status == SSAN_FORMAT) {
        status = inner.text[0] ? blame(err, name, (uint32_t)inner.position, inner.text)
                               : blame_schema(err, name, &fault);
    } else if (status) {
        ssan_fail(err, status, 0, "%s", inner.text);
    } else {
        status = take_entries(list, name, &lines, raws, count, err);
    }
    yaml_unload(&list_schema, raws, count);
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
