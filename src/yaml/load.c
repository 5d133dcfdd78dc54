/* libcyaml with our memory, and its messages as facts: it tells what is wrong as text alone, first
 * a sentence, then the place from the inside out. */
#include "yaml/load.h"

#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE_ROOM 200

/* What libcyaml said. */
struct said {
    char message[MESSAGE_ROOM];
    char path[sizeof((struct yaml_fault *)0)->path];
    char last[sizeof((struct yaml_fault *)0)->path]; /* the innermost step, if it is a field's */
    bool steps;                                      /* of the place, one at least has come */
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

/* Puts a step in front of the path; a path that is too long loses its end. */
static void put_in_front(struct said *said, const char *step)
{
    char path[sizeof said->path];
    const char *dot = said->path[0] && said->path[0] != '[' ? "." : "";
    snprintf(path, sizeof path, "%s%s%.*s", step, dot,
             (int)(sizeof path - strlen(step) - strlen(dot) - 1), said->path);
    memcpy(said->path, path, sizeof path);
}

static void listen(cyaml_log_t level, void *self, const char *format, va_list args)
{
    static const char field[] = "in mapping field '", entry[] = "in sequence entry '";
    struct said *said = self;
    char line[300], step[128];
    const char *found;
    (void)level;
    vsnprintf(line, sizeof line, format, args);
    line[strcspn(line, "\n")] = '\0';
    if (!said->message[0]) {
        found = strncmp(line, "Load: ", 6) == 0 ? line + 6 : line;
        snprintf(said->message, sizeof said->message, "%.199s", found);
    } else if ((found = strstr(line, field))) {
        found += sizeof field - 1;
        snprintf(step, sizeof step, "%.*s", (int)strcspn(found, "'"), found);
        if (!said->steps) {
            snprintf(said->last, sizeof said->last, "%s", step);
        }
        put_in_front(said, step);
        said->steps = true;
    } else if ((found = strstr(line, entry))) {
        const unsigned long number = strtoul(found + sizeof entry - 1, NULL, 10);
        if (number > 0) { /* counted from 1; 0: none has come yet */
            snprintf(step, sizeof step, "[%lu]", number - 1);
            put_in_front(said, step);
        }
        said->steps = true;
    } else if (strstr(line, "in mapping")) { /* whose first key has not come yet */
        said->steps = true;
    }
}

static enum yaml_fault_kind kind_of(cyaml_err_t error, const struct said *said)
{
    switch (error) {
    case CYAML_ERR_INVALID_KEY:
        return YAML_FAULT_UNKNOWN_KEY;
    case CYAML_ERR_MAPPING_FIELD_MISSING:
        return YAML_FAULT_MISSING_KEY;
    case CYAML_ERR_STRING_LENGTH_MIN:
    case CYAML_ERR_SEQUENCE_ENTRIES_MIN:
        return YAML_FAULT_EMPTY;
    case CYAML_ERR_STRING_LENGTH_MAX:
    case CYAML_ERR_SEQUENCE_ENTRIES_MAX:
        return YAML_FAULT_LONG;
    case CYAML_ERR_INVALID_VALUE:
        return YAML_FAULT_NUMBER; /* too large: all others were refused before */
    default:
        return strstr(said->message, "already seen") ? YAML_FAULT_TWICE : YAML_FAULT_FORM;
    }
}

/* What a schema wants at a path; NULL: it has no such place. */
static const cyaml_schema_value_t *value_at(const cyaml_schema_value_t *value, const char *path)
{
    while (*path && value) {
        if (*path == '[') {
            value = value->type == CYAML_SEQUENCE ? value->sequence.entry : NULL;
            path += strcspn(path, "]");
            path += *path == ']';
            continue;
        }
        path += *path == '.';
        const size_t length = strcspn(path, ".[");
        const cyaml_schema_field_t *field =
            value->type == CYAML_MAPPING ? value->mapping.fields : NULL;
        while (field && field->key &&
               (strlen(field->key) != length || memcmp(field->key, path, length) != 0)) {
            field++;
        }
        value = field && field->key ? &field->value : NULL;
        path += length;
    }
    return value;
}

static void fill_fault(struct yaml_fault *fault, cyaml_err_t error, const struct said *said,
                       const struct yaml_lines *lines, const cyaml_schema_value_t *schema)
{
    const char *colon = strrchr(said->message, ':');
    const char *word = colon && colon[1] == ' ' ? colon + 2 : said->message;
    char inside[sizeof fault->path + sizeof fault->word + 2];
    size_t length;
    *fault = (struct yaml_fault){.kind = kind_of(error, said)};
    snprintf(fault->path, sizeof fault->path, "%s", said->path);
    if (fault->kind == YAML_FAULT_MISSING_KEY || fault->kind == YAML_FAULT_TWICE) {
        /* The place is that of the last key, and the mapping is meant. */
        const size_t whole = strlen(fault->path), step = strlen(said->last);
        fault->path[whole >= step ? whole - step : whole] = '\0';
        length = strlen(fault->path);
        if (step && length && fault->path[length - 1] == '.') {
            fault->path[length - 1] = '\0';
        }
    }
    if (error == CYAML_ERR_SEQUENCE_ENTRIES_MAX && strrchr(fault->path, '[')) {
        *strrchr(fault->path, '[') = '\0'; /* the place is that of the first entry too many */
    }
    length = strlen(word);
    if (length > 1 && word[0] == '\'' && word[length - 1] == '\'') {
        word++;
        length -= 2;
    }
    snprintf(fault->word, sizeof fault->word, "%.*s", (int)length, word);
    snprintf(inside, sizeof inside, "%s%s%s", fault->path, fault->path[0] ? "." : "", fault->word);
    fault->line = yaml_lines_find(lines, fault->kind == YAML_FAULT_UNKNOWN_KEY ||
                                                 fault->kind == YAML_FAULT_TWICE
                                             ? inside
                                             : fault->path);
    fault->wanted = fault->kind == YAML_FAULT_NUMBER || fault->kind == YAML_FAULT_LONG
                        ? value_at(schema, fault->path)
                        : NULL;
}

/* All of a text as a number in decimal digits. libcyaml reads as much as it can, and takes a
 * leading 0 for octal. */
static bool is_number(const char *text, bool whole)
{
    const char *digits = text + (*text == '-' || *text == '+');
    char *end;
    if (whole) {
        return *digits && digits[strspn(digits, "0123456789")] == '\0' &&
               (digits[0] != '0' || !digits[1]);
    }
    (void)strtod(text, &end);
    return *text && !*end && text[strspn(text, "0123456789+-.eE")] == '\0';
}

static bool is_one_of(const char *text, const cyaml_schema_value_t *value)
{
    for (uint32_t i = 0; i < value->enumeration.count; i++) {
        if (strcmp(value->enumeration.strings[i].str, text) == 0) {
            return true;
        }
    }
    return false;
}

static enum yaml_form form_wanted(const cyaml_schema_value_t *value)
{
    return value->type == CYAML_MAPPING    ? YAML_FORM_KEYS
           : value->type == CYAML_SEQUENCE ? YAML_FORM_LIST
                                           : YAML_FORM_TEXT;
}

/* Whether what stands at a place has the form that its schema wants; if not, fills the fault. */
static bool fits(const struct yaml_place *place, const cyaml_schema_value_t *value,
                 struct yaml_fault *fault)
{
    enum yaml_fault_kind kind = YAML_FAULT_FORM;
    bool good = place->form == form_wanted(value);
    if (good && place->text && (value->type == CYAML_INT || value->type == CYAML_UINT)) {
        kind = YAML_FAULT_NUMBER;
        good = is_number(place->text, true) && (value->type == CYAML_INT || place->text[0] != '-');
    } else if (good && place->text && value->type == CYAML_FLOAT) {
        kind = YAML_FAULT_NUMBER;
        good = is_number(place->text, false);
    } else if (good && place->text && value->type == CYAML_BOOL) {
        kind = YAML_FAULT_WORD;
        good = strcmp(place->text, "true") == 0 || strcmp(place->text, "false") == 0;
    } else if (good && place->text && value->type == CYAML_ENUM) {
        kind = YAML_FAULT_WORD;
        good = is_one_of(place->text, value);
    }
    if (!good) {
        *fault = (struct yaml_fault){
            .kind = kind, .line = place->line, .wanted = value, .form = place->form};
        snprintf(fault->path, sizeof fault->path, "%s", place->path);
        snprintf(fault->word, sizeof fault->word, "%s", place->text ? place->text : "");
    }
    return good;
}

/* What libcyaml would tell in its own words, or not at all. */
static bool all_fit(const struct yaml_lines *lines, const cyaml_schema_value_t *schema,
                    struct yaml_fault *fault)
{
    if (lines->form != form_wanted(schema)) {
        *fault = (struct yaml_fault){
            .kind = YAML_FAULT_FORM, .line = 1, .wanted = schema, .form = lines->form};
        return false;
    }
    for (size_t i = 0; i < lines->places.count; i++) {
        const struct yaml_place *place = &lines->places.items[i];
        const cyaml_schema_value_t *value = value_at(schema, place->path);
        if (value && !fits(place, value, fault)) {
            return false;
        }
    }
    return true;
}

enum ssan_status yaml_load(void **data, unsigned *count, const cyaml_schema_value_t *schema,
                           const char *text, size_t length, struct yaml_lines *lines,
                           struct yaml_fault *fault, struct ssan_error *err)
{
    struct said said = {0};
    const cyaml_config_t how = {
        .log_fn = listen, .log_ctx = &said, .mem_fn = allocate, .log_level = CYAML_LOG_ERROR};
    enum ssan_status status = yaml_lines_read(lines, text, length, err);
    *data = NULL;
    if (count) {
        *count = 0;
    }
    if (status || !lines->filled) {
        return status;
    }
    if (!all_fit(lines, schema, fault)) {
        return ssan_fail(err, SSAN_FORMAT, fault->line, "%s", "");
    }
    const cyaml_err_t error =
        cyaml_load_data((const uint8_t *)text, length, &how, schema, (cyaml_data_t **)data, count);
    if (error == CYAML_ERR_OOM) {
        return ssan_no_memory(err);
    }
    if (error != CYAML_OK) {
        fill_fault(fault, error, &said, lines, schema);
        return ssan_fail(err, SSAN_FORMAT, fault->line, "%s", "");
    }
    return SSAN_OK;
}

void yaml_unload(const cyaml_schema_value_t *schema, void *data, unsigned count)
{
    const cyaml_config_t how = {.mem_fn = allocate, .log_level = CYAML_LOG_ERROR};
    if (data) {
        cyaml_free(&how, schema, data, count);
    }
}
