/* Lines of outputs; see output_lines.h. */
#include "cli/output_lines.h"

#include "base/hash.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define VARYING_MAX 1000u /* beyond so many words and lines nothing is compared */

bool output_open(struct output_text *text, const struct trial_result *result)
{
    struct strbuf path = {0};
    struct stat info;
    *text = (struct output_text){0};
    strbuf_printf(&path, "%s/" TRIAL_STDOUT, result->directory);
    int fd = path.failed ? -1 : open(strbuf_text(&path), O_RDONLY | O_CLOEXEC);
    strbuf_finish(&path);
    bool fine = fd >= 0 && fstat(fd, &info) == 0;
    if (fine && info.st_size > 0) {
        text->map = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        fine = text->map != MAP_FAILED;
        text->map = fine ? text->map : NULL;
        text->at = text->map;
        text->length = fine ? (size_t)info.st_size : 0;
    }
    if (fd >= 0) {
        close(fd);
    }
    return fine;
}

void output_close(struct output_text *text)
{
    if (text->map) {
        munmap(text->map, text->length);
    }
    *text = (struct output_text){0};
}

/* A stretch of a text: a line without its end, or a word. */
struct part {
    const char *at;
    size_t length;
};

static bool same_part(struct part a, struct part b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.at, b.at, a.length) == 0);
}

size_t output_line_length(const struct output_text *text, size_t begin)
{
    if (begin >= text->length) {
        return 0;
    }
    const char *end = memchr(text->at + begin, '\n', text->length - begin);
    return end ? (size_t)(end - text->at) - begin : text->length - begin;
}

/* Walks lines; `at` is where the next one begins. False behind the last. */
static bool next_line(const struct output_text *text, size_t *at, struct part *line)
{
    if (*at >= text->length) {
        return false;
    }
    *line = (struct part){text->at + *at, output_line_length(text, *at)};
    *at += line->length + 1;
    return true;
}

/* Walks words: what stands between spaces. */
static bool next_word(struct part *rest, struct part *word)
{
    while (rest->length > 0 && (*rest->at == ' ' || *rest->at == '\t')) {
        rest->at++;
        rest->length--;
    }
    *word = (struct part){rest->at, 0};
    while (word->length < rest->length && rest->at[word->length] != ' ' &&
           rest->at[word->length] != '\t') {
        word->length++;
    }
    rest->at += word->length;
    rest->length -= word->length;
    return word->length > 0;
}

static uint32_t count_words(struct part line)
{
    struct part word;
    uint32_t count = 0;
    while (next_word(&line, &word)) {
        count++;
    }
    return count;
}

static bool add(struct output_mask *mask, uint64_t line, uint32_t word)
{
    mask->all = mask->all || mask->items.count >= VARYING_MAX;
    return mask->all || VEC_PUSH(&mask->items, ((struct output_varying){line, word}));
}

static bool learn_line(struct output_mask *mask, uint64_t line, struct part a, struct part b)
{
    struct part left, right;
    bool fine = true;
    if (count_words(a) != count_words(b)) {
        return add(mask, line, OUTPUT_WHOLE_LINE);
    }
    size_t before = mask->items.count;
    for (uint32_t i = 0; fine && next_word(&a, &left) && next_word(&b, &right); i++) {
        fine = same_part(left, right) || add(mask, line, i);
    }
    /* only spaces differ */
    return fine && (mask->items.count > before || mask->all || add(mask, line, OUTPUT_WHOLE_LINE));
}

bool output_learn(struct output_mask *mask, const struct output_text *one,
                  const struct output_text *other)
{
    struct part left, right;
    size_t i = 0, k = 0;
    bool fine = true;
    for (uint64_t line = 1; fine && !mask->all; line++) {
        bool more = next_line(one, &i, &left), too = next_line(other, &k, &right);
        if (!more || !too) {
            mask->all = more != too;
            break;
        }
        fine = same_part(left, right) || learn_line(mask, line, left, right);
    }
    return fine;
}

void output_forget(struct output_mask *mask)
{
    VEC_FREE(&mask->items);
    *mask = (struct output_mask){0};
}

/* The first entry of this line or a later one. `from`: an entry that is not behind it. */
static size_t find_line(const struct output_mask *mask, uint64_t line, size_t from)
{
    while (from < mask->items.count && mask->items.items[from].line < line) {
        from++;
    }
    return from;
}

static bool is_masked(const struct output_mask *mask, size_t from, uint64_t line, uint32_t word)
{
    for (; from < mask->items.count && mask->items.items[from].line == line; from++) {
        if (mask->items.items[from].word == word) {
            return true;
        }
    }
    return false;
}

/* What counts of a line, as a number. */
static uint64_t hash_line(const struct output_mask *mask, size_t entry, uint64_t line,
                          struct part text)
{
    bool varies = entry < mask->items.count && mask->items.items[entry].line == line;
    struct part word = text;
    uint64_t hash = line;
    uint32_t words = 0;
    if (varies && mask->items.items[entry].word == OUTPUT_WHOLE_LINE) {
        return hash;
    }
    while (varies ? next_word(&text, &word) : words == 0) {
        if (!varies || !is_masked(mask, entry, line, words)) {
            hash = hash_bytes(hash, word.at, word.length);
        }
        words++;
    }
    return hash_mix(hash, words);
}

uint64_t output_hash(const struct output_mask *mask, const struct output_text *text)
{
    struct part line;
    uint64_t hash = 0;
    size_t at = 0, entry = 0;
    for (uint64_t number = 1; next_line(text, &at, &line); number++) {
        entry = find_line(mask, number, entry);
        hash = hash_mix(hash, hash_line(mask, entry, number, line));
    }
    return hash_mix(hash, at == text->length); /* the last line has its end or not */
}

uint64_t output_difference(const struct output_mask *mask, const struct output_text *left,
                           const struct output_text *right, size_t *left_line, size_t *right_line)
{
    size_t i = 0, k = 0, entry = 0;
    for (uint64_t number = 1;; number++) {
        struct part a = {0}, b = {0};
        *left_line = i;
        *right_line = k;
        bool more = next_line(left, &i, &a), too = next_line(right, &k, &b);
        if (!more && !too) {
            return 0;
        }
        entry = find_line(mask, number, entry);
        bool same = more == too && (i <= left->length) == (k <= right->length) &&
                    (same_part(a, b) ||
                     hash_line(mask, entry, number, a) == hash_line(mask, entry, number, b));
        if (!same) {
            return number;
        }
    }
}
