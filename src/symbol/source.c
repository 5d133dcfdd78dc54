/* Reads source files once and cuts out statements.
 *
 * A statement is taken from the start of its line. Later lines are added until a `;`, `{` or `}`
 * outside of parentheses, or until more parentheses close than were opened (the line began inside a
 * call, as in macros). The first line is taken whole where the column of the call is unknown; else
 * the statement is the one that the column is in: from behind the last `;`, `{` or `}` before it
 * that ends or opens a block. Strings and comments are known, preprocessor lines end a statement.
 * The only statement under an `if (...)`, `for (...)`, `while (...)` or `else` without braces on
 * the line above begins with that line. Cost: linear in the file, once, then in the statement. */
#include "symbol/source.h"

#include "base/ctext.h"
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
    uint32_t file, line, column;
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
    int depth;  /* of () and [], with a column also of the braces of initialisers */
    int listed; /* how many of these braces are open */
    char quote;
    bool comment;   /* inside a C comment */
    bool space_due; /* one space goes before the next character */
    bool closed;    /* the statement has ended */
    bool exact;     /* the column is known: the first line isn't taken whole */
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

/* Whether a brace behind `last` begins a list of values and no block. */
static bool begins_list(char last)
{
    return last && strchr("=,(", last);
}

/* Counts brackets; with a column the braces around values too. */
static void count_bracket(struct walk *walk, char c)
{
    if (c == '(' || c == '[') {
        walk->depth++;
    } else if (c == ')' || c == ']') {
        walk->depth--;
    } else if (walk->exact && c == '{' && begins_list(walk->last)) {
        walk->depth++;
        walk->listed++;
    } else if (walk->listed > 0 && c == '}') {
        walk->depth--;
        walk->listed--;
    }
}

/* Takes a character of code; `first`: of a first line that is kept whole. */
static void take_code(struct walk *walk, char c, bool first)
{
    if (isspace((unsigned char)c)) {
        walk->space_due = true;
        return;
    }
    const int listed = walk->listed;
    if (c == '"' || c == '\'') {
        walk->quote = c;
    } else {
        count_bracket(walk, c);
    }
    if (!first && walk->depth <= 0 && (c == '{' || c == '}') && listed == walk->listed) {
        walk->closed = true;
        if (walk->exact && walk->length == 0) { /* the end of a block, where destructors run */
            keep(walk, c);
        }
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

#define BRACKETS 64

/* What is open before a column: brackets, innermost last. */
struct scan {
    const char *start; /* of the statement so far */
    char open[BRACKETS];
    size_t count;
    char last; /* last character that is no space */
};

static void scan_code(struct scan *scan, const char *p)
{
    const char inner = scan->count > 0 ? scan->open[scan->count - 1] : '{';
    const bool block = *p == '{' && !begins_list(scan->last);
    if (strchr("([{", *p)) {
        if (scan->count < BRACKETS) {
            scan->open[scan->count++] = *p == '{' && !block ? '=' : *p;
        }
    } else if (strchr(")]}", *p) && scan->count > 0) {
        scan->count--;
    }
    const bool outside = (*p == '}' && inner == '{') || (*p == ')' && inner == '{');
    if (block || outside || (*p == ';' && inner == '{')) {
        scan->start = p + 1;
    }
}

/* Where the statement begins that `at` is in; both on the line that begins at `p`. */
static const char *statement_start(const char *p, const char *at)
{
    struct scan scan = {.start = p};
    while (p < at) {
        if (p[0] == '/' && p + 1 < at && (p[1] == '*' || p[1] == '/')) {
            const char *close = p[1] == '*' ? p + 2 : at;
            while (close + 1 < at && !(close[0] == '*' && close[1] == '/')) {
                close++;
            }
            p = close + 2;
            continue;
        }
        if (*p == '"' || *p == '\'') {
            const char quote = *p;
            for (p++; p < at && *p != quote; p++) {
                p += *p == '\\' ? 1 : 0;
            }
            scan.last = quote;
        } else if (!isspace((unsigned char)*p)) {
            scan_code(&scan, p);
            scan.last = *p;
        }
        p++;
    }
    return scan.start;
}

/* Begins the walk of a line at the statement of the column, if that is known and on the line. */
static const char *begin_walk(struct walk *walk, const char *p, const char *end, uint32_t column)
{
    const char *newline = memchr(p, '\n', (size_t)(end - p));
    const char *stop = newline ? newline : end;
    if (column == 0 || (size_t)(stop - p) < column || isspace((unsigned char)p[column - 1])) {
        return p;
    }
    walk->exact = true;
    return statement_start(p, p + column - 1);
}

size_t source_join(const char *text, size_t length, uint32_t line, uint32_t column, char *out)
{
    const char *end = text + length, *p = text;
    struct walk walk = {.out = out};
    uint32_t number;
    for (number = 1; number < line && p < end; number++) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        p = newline ? newline + 1 : end;
    }
    p = begin_walk(&walk, p, end, column);
    for (number = 0; number < SOURCE_MAX_LINES && p < end && !walk.closed; number++) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        const char *stop = newline ? newline : end, *begin = p;
        while (begin < stop && isspace((unsigned char)*begin)) {
            begin++;
        }
        if (number > 0 && begin < stop && *begin == '#') {
            break;
        }
        take_line(&walk, begin, stop, number == 0 && !walk.exact);
        if (number == 0 && first_line_ends(&walk)) {
            break;
        }
        p = newline ? newline + 1 : end;
    }
    out[walk.length] = '\0';
    return walk.length;
}

static bool has_word(const char *p, const char *end, const char *word)
{
    const size_t length = strlen(word);
    return (size_t)(end - p) >= length && memcmp(p, word, length) == 0 &&
           ((size_t)(end - p) == length || !ctext_is_word(p[length]));
}

/* Whether [p, end), without spaces around, is all of `if (...)` and the like. */
static bool is_control(const char *p, const char *end)
{
    int depth = 0;
    bool head = has_word(p, end, "else") && end - p == 4;
    if (has_word(p, end, "if") || has_word(p, end, "for") || has_word(p, end, "while")) {
        head = end[-1] == ')';
        for (; p < end; p++) {
            depth += *p == '(' ? 1 : *p == ')' ? -1 : 0;
            head &= depth > 0 || p + 1 == end || !strchr(")", *p);
        }
    }
    return head && depth == 0;
}

/* The line above `p` (the begin of a line of `text`), blank ones skipped, if it is the head of a
 * statement without braces: length of the part to copy and its begin; 0: none. */
static size_t control_above(const char *text, const char *p, const char **begin)
{
    while (p > text) {
        const char *end = p - 1, *comment;
        for (p = end; p > text && p[-1] != '\n'; p--) {
        }
        *begin = p;
        while (*begin < end && (isspace((unsigned char)**begin) || **begin == '}')) {
            (*begin)++;
        }
        comment = end;
        for (const char *at = *begin; at + 1 < end && comment == end; at++) {
            comment = at[0] == '/' && at[1] == '/' ? at : end;
        }
        while (comment > *begin && isspace((unsigned char)comment[-1])) {
            comment--;
        }
        if (comment > *begin || end > p + strspn(p, " \t\r\n")) {
            return is_control(*begin, comment) ? (size_t)(comment - *begin) : 0;
        }
    }
    return 0;
}

/* Puts the head of its statement before the text of the line that begins at `line`. */
static void add_control(const struct source_file *file, const char *line, char *text, size_t length)
{
    const char *begin = NULL;
    const size_t head = control_above(file->text, line, &begin);
    while (isspace((unsigned char)*line)) {
        line++;
    }
    if (head == 0 || length < 2 || memcmp(line, text, 2) != 0 ||
        length + head + 1 > SOURCE_MAX_BYTES) {
        return; /* a later statement of the line */
    }
    memmove(text + head + 1, text, length + 1);
    memcpy(text, begin, head);
    text[head] = ' ';
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
        if (text) {
            text[*length] = '\0';
        }
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

const char *source_text(struct source_cache *cache, const char *path, size_t *length)
{
    const struct source_file *file = find_file(cache, path);
    *length = file && file->text ? file->length : 0;
    return file ? file->text : NULL;
}

const char *source_statement(struct source_cache *cache, const char *path, uint32_t line,
                             uint32_t column)
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
        const struct kept_text *known = &cache->texts.items[i];
        if (known->file == index && known->line == line && known->column == column) {
            return known->text;
        }
    }
    i = file->lines.items[line - 1];
    length = source_join(file->text + i, file->length - i, 1, column, text);
    if (length == 0) {
        return NULL;
    }
    add_control(file, file->text + i, text, length);
    kept = (struct kept_text){index, line, column, mem_strdup(text)};
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
