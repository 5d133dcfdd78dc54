/* Reads source files once and cuts out statements.
 *
 * A statement is taken from the start of its line. Later lines are added until a `;`, `{` or `}`
 * outside of parentheses, or until more parentheses close than were opened (the line began inside a
 * call, as in macros). The first line is always taken whole. Strings and comments are known,
 * preprocessor lines end a statement. Cost: linear in the file, once, then in the statement. */
#include "symbol/source.h"

#include "base/mem.h"
#include "base/vec.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MAX_FILE_BYTES (64u << 20)

struct source_file {
    char *path;
    char *text; /* NULL: can't be read */
    size_t length;
    VEC(uint32_t) lines; /* offset of each line */
};

struct kept_text {
    uint32_t file, line;
    char *text;
};

struct source_cache {
    VEC(struct source_file) files;
    VEC(struct kept_text) texts;
};

/* State while the characters of a statement are walked. */
struct walk {
    char *out;
    size_t length;
    int depth; /* of () and [] */
    char quote;
    bool comment;   /* inside a C comment */
    bool space_due; /* one space goes before the next character */
    bool closed;    /* the statement has ended */
    char last;      /* last character that is no space */
};

static void keep(struct walk *walk, char c)
{
    size_t need = walk->space_due && walk->length > 0 ? 2 : 1;
    if (walk->length + need > SOURCE_MAX_BYTES) {
        walk->closed = true;
        return;
    }
    if (need == 2) {
        walk->out[walk->length++] = ' ';
    }
    walk->space_due = false;
    walk->out[walk->length++] = c;
    walk->last = c;
}

/* Takes a character of code; `first`: of the first line, which is kept whole. */
static void take_code(struct walk *walk, char c, bool first)
{
    if (isspace((unsigned char)c)) {
        walk->space_due = true;
        return;
    }
    if (c == '"' || c == '\'') {
        walk->quote = c;
    } else if (c == '(' || c == '[') {
        walk->depth++;
    } else if (c == ')' || c == ']') {
        walk->depth--;
    }
    if (!first && walk->depth <= 0 && (c == '{' || c == '}')) {
        walk->closed = true;
        return;
    }
    keep(walk, c);
    if (!first && (walk->depth < 0 || (walk->depth == 0 && c == ';'))) {
        walk->closed = true;
    }
}

static void take_line(struct walk *walk, const char *p, const char *end, bool first)
{
    for (; p < end && !walk->closed; p++) {
        if (walk->comment) {
            if (p[0] == '*' && p + 1 < end && p[1] == '/') {
                walk->comment = false;
                walk->space_due = true;
                p++;
            }
        } else if (walk->quote) {
            keep(walk, *p);
            if (*p == '\\' && p + 1 < end) {
                keep(walk, *++p);
            } else if (*p == walk->quote) {
                walk->quote = 0;
            }
        } else if (p[0] == '/' && p + 1 < end && p[1] == '/') {
            break;
        } else if (p[0] == '/' && p + 1 < end && p[1] == '*') {
            walk->comment = true;
            p++;
        } else {
            take_code(walk, *p, first);
        }
    }
    walk->quote = 0;
    walk->space_due = true;
}

/* Whether nothing may follow once the first line has been taken. */
static bool first_line_ends(const struct walk *walk)
{
    return walk->depth < 0 || (walk->depth == 0 && walk->last && strchr(";{}", walk->last));
}

size_t source_join(const char *text, size_t length, uint32_t line, char *out)
{
    const char *end = text + length, *p = text;
    struct walk walk = {.out = out};
    uint32_t number;
    for (number = 1; number < line && p < end; number++) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        p = newline ? newline + 1 : end;
    }
    for (number = 0; number < SOURCE_MAX_LINES && p < end && !walk.closed; number++) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        const char *stop = newline ? newline : end, *begin = p;
        while (begin < stop && isspace((unsigned char)*begin)) {
            begin++;
        }
        if (number > 0 && begin < stop && *begin == '#') {
            break;
        }
        take_line(&walk, begin, stop, number == 0);
        if (number == 0 && first_line_ends(&walk)) {
            break;
        }
        p = newline ? newline + 1 : end;
    }
    out[walk.length] = '\0';
    return walk.length;
}

static char *read_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rbe");
    long size;
    char *text = NULL;
    if (!file) {
        return NULL;
    }
    if (fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0 &&
        size <= (long)MAX_FILE_BYTES) {
        rewind(file);
        text = mem_alloc((size_t)size + 1);
        *length = text ? fread(text, 1, (size_t)size, file) : 0;
    }
    fclose(file);
    return text;
}

/* Offsets of the lines; false when out of memory. */
static bool index_lines(struct source_file *file)
{
    size_t i;
    if (!VEC_PUSH(&file->lines, 0)) {
        return false;
    }
    for (i = 0; i < file->length; i++) {
        if (file->text[i] == '\n' && !VEC_PUSH(&file->lines, (uint32_t)i + 1)) {
            return false;
        }
    }
    return true;
}

static struct source_file *find_file(struct source_cache *cache, const char *path)
{
    struct source_file file = {0};
    size_t i;
    for (i = 0; i < cache->files.count; i++) {
        if (strcmp(cache->files.items[i].path, path) == 0) {
            return &cache->files.items[i];
        }
    }
    file.path = mem_strdup(path);
    if (!file.path) {
        return NULL;
    }
    file.text = read_file(path, &file.length);
    if ((file.text && !index_lines(&file)) || !VEC_PUSH(&cache->files, file)) {
        VEC_FREE(&file.lines);
        mem_free(file.text);
        mem_free(file.path);
        return NULL;
    }
    return &cache->files.items[cache->files.count - 1];
}

struct source_cache *source_create(void)
{
    return mem_zalloc(1, sizeof(struct source_cache));
}

const char *source_statement(struct source_cache *cache, const char *path, uint32_t line)
{
    struct source_file *file = find_file(cache, path);
    char text[SOURCE_MAX_BYTES + 1];
    struct kept_text kept;
    uint32_t index;
    size_t i, length;
    if (!file || !file->text || line == 0 || line > file->lines.count) {
        return NULL;
    }
    index = (uint32_t)(file - cache->files.items);
    for (i = 0; i < cache->texts.count; i++) {
        if (cache->texts.items[i].file == index && cache->texts.items[i].line == line) {
            return cache->texts.items[i].text;
        }
    }
    i = file->lines.items[line - 1];
    length = source_join(file->text + i, file->length - i, 1, text);
    if (length == 0) {
        return NULL;
    }
    kept = (struct kept_text){index, line, mem_strdup(text)};
    if (!kept.text || !VEC_PUSH(&cache->texts, kept)) {
        mem_free(kept.text);
        return NULL;
    }
    return kept.text;
}

void source_destroy(struct source_cache *cache)
{
    size_t i;
    if (!cache) {
        return;
    }
    for (i = 0; i < cache->files.count; i++) {
        mem_free(cache->files.items[i].path);
        mem_free(cache->files.items[i].text);
        VEC_FREE(&cache->files.items[i].lines);
    }
    for (i = 0; i < cache->texts.count; i++) {
        mem_free(cache->texts.items[i].text);
    }
    VEC_FREE(&cache->files);
    VEC_FREE(&cache->texts);
    mem_free(cache);
}
