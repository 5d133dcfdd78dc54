/* The words that both emitters and all parts of the text form share: names of operations and
 * places, and the sentence of a finding. Appends to a strbuf; decides nothing. */
#ifndef SSAN_REPORT_WORDS_H
#define SSAN_REPORT_WORDS_H

#include "base/strbuf.h"
#include "core/finding.h"

/* NULL for index -1. */
const struct report_op *words_op(const struct report *report, int op);
/* Name of a buffer, stream or event, "?" for -1. */
const char *words_buffer(const struct report *report, int buffer);
const char *words_event(const struct report *report, int event);

/* The operation alone: "add", "copy P1", "cudaFree", "the host". */
void words_noun(struct strbuf *out, const struct report *report, int op);
/* With its stream: "add on 'consumer'", "the host". */
void words_subject(struct strbuf *out, const struct report *report, int op);
/* Behind the name of a stream or buffer of that device (-1: none) where the run has several:
 * " (device 1)". */
void words_device(struct strbuf *out, const struct report *report, int device);
/* The stream, or "the host": "'consumer'", "the host". */
void words_lane(struct strbuf *out, const struct report *report, int op);
/* The same with the device. */
void words_lane_of_device(struct strbuf *out, const struct report *report, int op);
/* "s1 'producer', s2 'consumer'": which streams the numbers in `order` ("s1.1,s2.1", NULL: all that
 * have items) are, a dozen at most. Nothing where it has none. */
void words_streams(struct strbuf *out, const struct report *report, const char *order);
/* "reads", "writes", "frees", "reuses" */
const char *words_verb(const struct report *report, const struct finding_side *side);
bool words_is_host(const struct report_op *op); /* host access, host call */

/* ":33" when the place lies in file `here`, else "file.cu:33"; without a line the function; else
 * "an unknown line". */
void words_place(struct strbuf *out, const struct place *place, const char *here);
/* "file.cu:33" always. */
void words_place_full(struct strbuf *out, const struct place *place);

/* The place a finding stands at: that of `then`, else of `first`. May be empty, never NULL. */
const struct place *words_site(const struct report *report, const struct finding *finding);

/* The sentence of a finding, without pointers, lines or severity. */
void words_message(struct strbuf *out, const struct report *report, const struct finding *finding);

/* "cudaMalloc at a.cu:9: cudaErrorMemoryAllocation, 3 times" */
void words_failure(struct strbuf *out, const struct run_failure *failure);
/* "cudaMalloc:3=cudaErrorUnknown did not happen: cudaMalloc was called 2 times" */
void words_missed(struct strbuf *out, const struct run_missed *missed);
/* The name of a CUDA error, or its number. */
void words_error(struct strbuf *out, uint32_t error);

/* A word of a command, quoted where a shell would take it otherwise. */
void words_shell(struct strbuf *out, const char *word);

#endif
