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
        return YAML_FAULT_WORD;
    default:
        return strstr(said->message, "already seen") ? YAML_FAULT_TWICE : YAML_FAULT_FORM;
    }
}

static void fill_fault(struct yaml_fault *fault, cyaml_err_t error, const struct said *said,
                       const struct yaml_lines *lines)
{
    const char *colon = strrchr(said->message, ':');
    const char *word = colon && colon[1] == ' ' ? colon + 2 : said->message;
    char inside[sizeof fault->path + sizeof fault->word + 2];
    size_t length;
    fault->kind = kind_of(error, said);
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
    const cyaml_err_t error =
        cyaml_load_data((const uint8_t *)text, length, &how, schema, (cyaml_data_t **)data, count);
    if (error == CYAML_ERR_OOM) {
        return ssan_no_memory(err);
    }
    if (error != CYAML_OK) {
        fill_fault(fault, error, &said, lines);
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
