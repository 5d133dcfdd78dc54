/* What two runs printed, line by line: where they differ, but for what varies by itself.
 *
 * Two runs under one schedule tell what varies: words (between spaces) of lines that have as many
 * of them in both, else whole lines. Naive model: both outputs with those words taken out. Cost:
 * one pass; a line that varies is split again for each comparison. One thread. */
#ifndef SSAN_CLI_OUTPUT_LINES_H
#define SSAN_CLI_OUTPUT_LINES_H

#include "cli/trial.h"

#include "base/strbuf.h"
#include "base/vec.h"

/* Borrowed from a strbuf, or from a file that is mapped. */
struct output_text {
    const char *at;
    size_t length;
    void *map;
};

#define OUTPUT_WHOLE_LINE UINT32_MAX

/* What is not compared, by line (from 1) and word (from 0). Zeroed: all is. */
struct output_varying {
    uint64_t line;
    uint32_t word;
};

struct output_mask {
    VEC(struct output_varying) items; /* in order */
    bool all;                         /* nothing is: the number of lines varies, or too many do */
};

/* Standard output of a trial; needs output_close if true. False when it can't be read. */
bool output_open(struct output_text *text, const struct trial_result *result);
void output_close(struct output_text *text);

/* Masks what differs. False when out of memory. */
bool output_learn(struct output_mask *mask, const struct output_text *one,
                  const struct output_text *other);
void output_forget(struct output_mask *mask);

/* The first line in which they differ, from 1, and where it begins in each; 0: in none. */
uint64_t output_difference(const struct output_mask *mask, const struct output_text *left,
                           const struct output_text *right, size_t *left_line, size_t *right_line);
/* The length of the line that begins there, without its end; 0 behind the text. */
size_t output_line_length(const struct output_text *text, size_t begin);
/* Equal for outputs without a difference. */
uint64_t output_hash(const struct output_mask *mask, const struct output_text *text);

#endif
