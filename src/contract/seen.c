/* Reads reports and outputs of runs; compares values by the arithmetic of compare.h. */
#include "contract/seen.h"

#include "contract/figures.h"
#include "contract/forms.h"
#include "contract/said.h"

#include "base/file.h"
#include "compare/array.h"

#include <inttypes.h>
#include <jansson.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define REPORT_BYTES_MOST (256u << 20)
#define OUTPUT_BYTES_MOST (64u << 20)
#define SHOWN_BYTES       80

static const char *kept(struct arena *arena, const char *text, bool *good)
{
    char *copy = text ? arena_strdup(arena, text) : NULL;
    *good &= !text || copy;
    return copy;
}

/* Where the later of the two operations was issued; NULL: unknown. */
static const json_t *place_of(const json_t *report, const json_t *finding)
{
    const char *id = json_string_value(json_object_get(json_object_get(finding, "then"), "op"));
    size_t i;
    const json_t *operation;
    json_array_foreach(json_object_get(report, "operations"), i, operation)
    {
        const char *other = json_string_value(json_object_get(operation, "id"));
        if (id && other && strcmp(id, other) == 0) {
            return json_object_get(operation, "at");
        }
    }
    return NULL;
}

static bool add_finding(struct seen *seen, const json_t *report, const json_t *finding,
                        struct arena *arena)
{
    const char *rule = json_string_value(json_object_get(finding, "rule"));
    const json_t *place = place_of(report, finding);
    bool good = true;
    for (size_t i = 0; i < seen->errors.count; i++) {
        if (rule && strcmp(seen->errors.items[i].rule, rule) == 0) {
            seen->errors.items[i].count++;
            return true;
        }
    }
    const struct seen_finding found = {
        .rule = kept(arena, rule ? rule : "?", &good),
        .message = kept(arena, json_string_value(json_object_get(finding, "message")), &good),
        .file = kept(arena, json_string_value(json_object_get(place, "file")), &good),
        .line = (unsigned)json_integer_value(json_object_get(place, "line")),
        .count = 1,
    };
    return good && VEC_PUSH(&seen->errors, found);
}

/* The errors, those that are folded into another too: a fault may be seen as any of them. */
static bool add_findings(struct seen *seen, const json_t *report, struct arena *arena)
{
    size_t i, k;
    const json_t *finding, *folded;
    json_array_foreach(json_object_get(report, "findings"), i, finding)
    {
        const char *severity = json_string_value(json_object_get(finding, "severity"));
        if (!severity || strcmp(severity, "error") != 0 ||
            json_is_string(json_object_get(finding, "suppressed_by"))) {
            continue;
        }
        if (!add_finding(seen, report, finding, arena)) {
            return false;
        }
        json_array_foreach(json_object_get(finding, "folded"), k, folded)
        {
            severity = json_string_value(json_object_get(folded, "severity"));
            if (severity && strcmp(severity, "error") == 0 &&
                !add_finding(seen, report, folded, arena)) {
                return false;
            }
        }
    }
    return true;
}

static enum ssan_status take_report(struct seen *seen, const json_t *report, struct arena *arena,
                                    struct ssan_error *err)
{
    const json_t *run = json_object_get(report, "run");
    const json_t *code = json_object_get(json_object_get(run, "exit"), "code");
    const json_t *signal = json_object_get(json_object_get(run, "exit"), "signal");
    const char *verdict =
        json_string_value(json_object_get(json_object_get(report, "summary"), "verdict"));
    bool good = true;
    if (!verdict || !json_is_object(run)) {
        return ssan_fail(err, SSAN_FORMAT, 0, "its report is not whole");
    }
    seen->verdict = kept(arena, verdict, &good);
    seen->complete = json_is_true(json_object_get(run, "complete"));
    seen->code = json_is_integer(code)     ? (int)json_integer_value(code)
                 : json_is_integer(signal) ? 128 + (int)json_integer_value(signal)
                                           : -1;
    seen->crashed = json_is_integer(signal);
    seen->lost = kept(arena, json_string_value(json_object_get(run, "infeasible")), &good);
    return good && add_findings(seen, report, arena) ? SSAN_OK : ssan_no_memory(err);
}

enum ssan_status seen_read(struct seen *seen, const char *folder, struct arena *arena,
                           struct ssan_error *err)
{
    struct strbuf path = {0}, text = {0};
    json_error_t wrong;
    *seen = (struct seen){.code = -1};
    strbuf_printf(&path, "%s/report.json", folder);
    enum ssan_status status = file_read(&text, strbuf_text(&path), REPORT_BYTES_MOST, err);
    json_t *report = status ? NULL : json_loadb(strbuf_text(&text), text.length, 0, &wrong);
    if (status == SSAN_OK) {
        status = report ? take_report(seen, report, arena, err)
                        : ssan_fail(err, SSAN_FORMAT, 0, "it left no report");
    }
    json_decref(report);
    strbuf_clear(&path);
    strbuf_printf(&path, "%s/stdout", folder);
    if (status == SSAN_OK) {
        status = said_read(&seen->output, strbuf_text(&path), OUTPUT_BYTES_MOST, err);
    }
    strbuf_finish(&path);
    strbuf_finish(&text);
    return status;
}

void seen_finish(struct seen *seen)
{
    VEC_FREE(&seen->errors);
    strbuf_finish(&seen->output);
}

bool seen_stdout(const struct seen *seen, const char *pattern, struct strbuf *why)
{
    regex_t compiled;
    if (regcomp(&compiled, pattern, REG_EXTENDED | REG_NOSUB | REG_NEWLINE)) {
        strbuf_printf(why, "'%s' is no regular expression", pattern);
        return false;
    }
    const bool found = regexec(&compiled, strbuf_text(&seen->output), 0, NULL, 0) == 0;
    regfree(&compiled);
    if (!found) {
        strbuf_printf(why, "no line of the output fits '%s'", pattern);
    }
    return found;
}

/* One occurrence. */
static bool check_word(const struct seen_value *value, const char *word, struct strbuf *why)
{
    int order;
    if (value->equals && !figures_equal(value->equals, word, value->abs, value->rel)) {
        strbuf_printf(why, "%s=%.*s, and %s is right", value->key, SHOWN_BYTES, word,
                      value->equals);
        if (value->abs > 0 || value->rel > 0) {
            strbuf_printf(why, " (abs %g, rel %g)", value->abs, value->rel);
        }
        return false;
    }
    if (value->min && (!figures_order(word, value->min, &order) || order < 0)) {
        strbuf_printf(why, "%s=%.*s, and at least %s is right", value->key, SHOWN_BYTES, word,
                      value->min);
        return false;
    }
    if (value->max && (!figures_order(word, value->max, &order) || order > 0)) {
        strbuf_printf(why, "%s=%.*s, and at most %s is right", value->key, SHOWN_BYTES, word,
                      value->max);
        return false;
    }
    return true;
}

static bool is_key_byte(char byte)
{
    const char text[2] = {byte, '\0'};
    return byte && forms_is_key(text);
}

/* The word behind the next KEY= of an output; NULL: there is none. */
static const char *next_word(const char *begin, const char *at, const char *key)
{
    const size_t length = strlen(key);
    while ((at = strstr(at, key))) {
        if (at[length] == '=' && (at == begin || !is_key_byte(at[-1]))) {
            return at + length + 1;
        }
        at += length;
    }
    return NULL;
}

bool seen_has(const struct seen *seen, const char *key)
{
    const char *begin = strbuf_text(&seen->output);
    return next_word(begin, begin, key) != NULL;
}

bool seen_value(const struct seen *seen, const struct seen_value *value, struct strbuf *why)
{
    const char *begin = strbuf_text(&seen->output), *word = begin;
    unsigned found = 0;
    while ((word = next_word(begin, word, value->key))) {
        const size_t width = strcspn(word, " \t\r\n,;)]}");
        struct strbuf one = {0};
        strbuf_add(&one, word, width);
        found++;
        const bool good = !one.failed && check_word(value, strbuf_text(&one), why);
        why->failed |= one.failed;
        strbuf_finish(&one);
        if (!good) {
            return false;
        }
    }
    if (!found) {
        strbuf_printf(why, "the output holds no %s=", value->key);
    }
    return found > 0;
}

/* Nothing is waited for: a program may leave a pipe that nobody writes to. */
static bool is_plain(const char *path)
{
    struct stat info;
    return stat(path, &info) != 0 || S_ISREG(info.st_mode);
}

bool seen_file(const char *output, const char *expected, const struct spec_file *how, bool *broken,
               struct strbuf *why)
{
    struct ssan_compare_options options = {.size_bytes = sizeof options,
                                           .abs = how->abs,
                                           .rel = how->rel,
                                           .ulp = how->ulp,
                                           .nan = how->nan,
                                           .inf = how->inf,
                                           .zero = how->zero};
    struct array_part part = {.count = ARRAY_TO_END};
    struct ssan_compare_result result = {0};
    struct array a = {.fd = -1}, b = {.fd = -1};
    struct ssan_error err = {0};
    if (!is_plain(output)) {
        *broken = false;
        strbuf_printf(why, "%s is no plain file", how->output);
        return false;
    }
    if (how->type) {
        (void)ssan_compare_type_find(how->type, &part.type);
    }
    *broken = array_open(&a, expected, &part, &err) != SSAN_OK;
    bool good = !*broken && array_open(&b, output, &part, &err) == SSAN_OK &&
                array_compare(&a, &b, &options, &result, &err) == SSAN_OK;
    if (!good) {
        strbuf_puts(why, err.text);
    } else if (result.different) {
        strbuf_printf(why, "%s: %" PRIu64 " of %" PRIu64 " elements differ from %s", how->output,
                      result.different, result.count, how->expected);
        if (result.max_ulp) {
            strbuf_printf(why, "; max abs %.6g at %" PRIu64, result.max_abs, result.max_abs_at);
        }
        good = false;
    }
    array_close(&a);
    array_close(&b);
    return good;
}
