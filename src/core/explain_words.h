/* The statements that fixes insert, in the language of the place: CUDA's calls, or in Python those
 * of torch.cuda. */
#ifndef SSAN_CORE_EXPLAIN_WORDS_H
#define SSAN_CORE_EXPLAIN_WORDS_H

#include "core/finding.h"

#include "base/strbuf.h"

/* A stream's name there; the default streams have names of their own in each language. */
const char *words_stream(const struct place *place, const char *stream);

/* Each appends one statement. A new event takes one statement in Python and two in C, the first of
 * which declares it: words_create then appends nothing in Python. */
void words_wait(struct strbuf *out, const struct place *place, const char *stream,
                const char *event);
void words_record(struct strbuf *out, const struct place *place, const char *stream,
                  const char *event);
void words_declare(struct strbuf *out, const struct place *place, const char *event);
void words_create(struct strbuf *out, const struct place *place, const char *event);
void words_join_event(struct strbuf *out, const struct place *place, const char *event);
void words_join_stream(struct strbuf *out, const struct place *place, const char *stream);
/* Makes a device the current one; nothing in Python, whose objects know theirs. */
void words_set_device(struct strbuf *out, const struct place *place, int device);
/* A variable with the number of the current device, and that device made the current one again. */
void words_declare_device(struct strbuf *out, const struct place *place, const char *variable);
void words_get_device(struct strbuf *out, const struct place *place, const char *variable);
void words_restore_device(struct strbuf *out, const struct place *place, const char *variable);
void words_join_device(struct strbuf *out, const struct place *place);

#endif
