/* Edit distance with swaps of neighbours, over three rows of the table. A word is near when at most
 * a third of its letters, and at least one, are wrong. Cost: product of the two lengths. */
#include "base/similar.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define WORD_MAX 64

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool is_same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Both at most WORD_MAX letters. */
static size_t distance(const char *a, const char *b)
{
    size_t rows[3][WORD_MAX + 1];
    const size_t length_a = strlen(a), length_b = strlen(b);
    size_t i, k;
    for (k = 0; k <= length_b; k++) {
        rows[0][k] = k;
    }
    for (i = 1; i <= length_a; i++) {
        size_t *row = rows[i % 3], *above = rows[(i - 1) % 3], *over = rows[(i + 1) % 3];
        row[0] = i;
        for (k = 1; k <= length_b; k++) {
            row[k] =
                least(least(above[k], row[k - 1]) + 1, above[k - 1] + !is_same(a[i - 1], b[k - 1]));
            if (i > 1 && k > 1 && is_same(a[i - 1], b[k - 2]) && is_same(a[i - 2], b[k - 1])) {
                row[k] = least(row[k], over[k - 2] + 1);
            }
        }
    }
    return rows[length_a % 3][length_b];
}

const char *similar_word(const char *word, const char *const *words, size_t count)
{
    const size_t length = strlen(word);
    const size_t most = length / 3 > 0 ? length / 3 : 1;
    const char *found = NULL;
    size_t best = most + 1, i;
    if (length < 2 || length > WORD_MAX) {
        return NULL;
    }
    for (i = 0; i < count; i++) {
        if (words[i] && strlen(words[i]) <= WORD_MAX) {
            const size_t far = distance(word, words[i]);
            if (far < best) {
                best = far;
                found = words[i];
            }
        }
    }
    return found;
}
