/* Reads and prints texts of one directive a line.
 *
 * Invariant: directive_word gives back what directive_print has written. Cost: O(length). */
#include "trace/directive.h"

#include "base/mem.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

enum ssan_status directive_refuse(const struct directive *directive, const char *what,
                                  const char *word)
{
    const char *open = word ? " '" : "", *close = word ? "'" : "";
    if (directive->line == 0) {
        return ssan_fail(directive->err, SSAN_USAGE, 0, "%s: %s%s%s%s", directive->name, what, open,
                         word ? word : "", close);
    }
    return ssan_fail(directive->err, SSAN_FORMAT, directive->line, "%s:%" PRIu64 ": %s%s%s%s",
                     directive->name, directive->line, what, open, word ? word : "", close);
}

enum ssan_status directive_no_memory(const struct directive *directive)
{
    return ssan_fail(directive->err, SSAN_NO_MEMORY, directive->line, "out of memory");
}

static int hex_digit(char c)
{
    return isdigit((unsigned char)c) ? c - '0'
           : c >= 'a' && c <= 'f'    ? c - 'a' + 10
           : c >= 'A' && c <= 'F'    ? c - 'A' + 10
                                     : -1;
}

/* The next character, %xx read as what it stands for; *at moves on. */
static char next_character(const char **at, const char *end)
{
    const char *from = *at;
    if (*from == '%' && end - from >= 3 && hex_digit(from[1]) >= 0 && hex_digit(from[2]) >= 0 &&
        (from[1] != '0' || from[2] != '0')) {
        *at += 3;
        return (char)(hex_digit(from[1]) * 16 + hex_digit(from[2]));
    }
    *at += 1;
    return *from;
}

bool directive_word(struct directive *directive, char *word, size_t room)
{
    size_t length = 0;
    while (directive->at < directive->end && (*directive->at == ' ' || *directive->at == '\t')) {
        directive->at++;
    }
    while (directive->at < directive->end && !isspace((unsigned char)*directive->at)) {
        char c = next_character(&directive->at, directive->end);
        if (length + 1 < room) {
            word[length++] = c;
        }
    }
    word[length] = '\0';
    return length > 0;
}

char *directive_rest(struct directive *directive)
{
    struct strbuf words = {0};
    while (directive->at < directive->end && isspace((unsigned char)*directive->at)) {
        directive->at++;
    }
    while (directive->end > directive->at && isspace((unsigned char)directive->end[-1])) {
        directive->end--;
    }
    strbuf_puts(&words, "");
    while (directive->at < directive->end) {
        char c = next_character(&directive->at, directive->end);
        strbuf_add(&words, &c, 1);
    }
    if (words.failed) {
        strbuf_finish(&words);
        return NULL;
    }
    return words.text ? strbuf_take(&words) : mem_strdup("");
}

bool directive_number(const char *word, unsigned base, uint64_t *number)
{
    uint64_t value = 0;
    for (const char *at = word; *at; at++) {
        int digit = hex_digit(*at);
        if (digit < 0 || (unsigned)digit >= base ||
            __builtin_mul_overflow(value, (uint64_t)base, &value) ||
            __builtin_add_overflow(value, (uint64_t)digit, &value)) {
            return false;
        }
    }
    *number = value;
    return *word != '\0';
}

/* One line, [directive->at, directive->end). */
static enum ssan_status parse_line(struct directive *directive, const struct directive_kind *kinds,
                                   size_t count, void *self)
{
    char word[64];
    const char *hash = memchr(directive->at, '#', (size_t)(directive->end - directive->at));
    if (hash) {
        directive->end = hash;
    }
    if (!directive_word(directive, word, sizeof word)) {
        return SSAN_OK;
    }
    for (size_t i = 0; i < count; i++) {
        if (strcmp(word, kinds[i].word) == 0) {
            enum ssan_status status = kinds[i].parse(directive, self);
            if (status == SSAN_OK && directive_word(directive, word, sizeof word)) {
                return directive_refuse(directive, "unexpected word", word);
            }
            return status;
        }
    }
    return directive_refuse(directive, "unknown word", word);
}

static enum ssan_status refuse_first(struct directive *directive, const char *first)
{
    directive->line = 1;
    return ssan_fail(directive->err, SSAN_FORMAT, 1, "%s:1: the first line is to be '%s'",
                     directive->name, first);
}

enum ssan_status directive_parse(struct directive *directive, const char *first,
                                 const struct directive_kind *kinds, size_t count, void *self,
                                 const char *text, size_t length)
{
    const size_t first_length = strlen(first);
    const char *end = text + length;
    enum ssan_status status = SSAN_OK;
    if (length < first_length || memcmp(text, first, first_length) != 0 ||
        (length > first_length && !isspace((unsigned char)text[first_length]))) {
        return refuse_first(directive, first);
    }
    directive->line = 1;
    for (const char *at = text; status == SSAN_OK && at < end; directive->line++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        directive->at = at;
        directive->end = newline ? newline : end;
        if (memchr(at, '\0', (size_t)(directive->end - at))) {
            status = directive_refuse(directive, "a NUL byte", NULL);
        } else if (directive->line > 1) {
            status = parse_line(directive, kinds, count, self);
        }
        at = newline ? newline + 1 : end;
    }
    return status;
}

void directive_print(const char *text, bool word, struct strbuf *out)
{
    for (const char *at = text; *at; at++) {
        unsigned char c = (unsigned char)*at;
        bool edge = at == text || at[1] == '\0';
        if (c < ' ' || c == '#' || c == '%' || (c == ' ' && (word || edge))) {
            strbuf_printf(out, "%%%02x", c);
        } else {
            strbuf_add(out, at, 1);
        }
    }
}
