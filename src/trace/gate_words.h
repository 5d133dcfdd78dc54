/* One gate in words: which kernel on a GPU is held up, and until which item is done, or which
 * access of the host.
 *
 * The words of `--gate` and of a `gate` line in observe_plan.h:
 *
 *   s1.2:s2.1[,limit=MS][,grace=MS][,blocks=N]
 *
 * The kernel s1.2 (item 2 of stream 1, numbered as in schedules) does not begin before s2.1 is done
 * and a short time has passed in which what follows s2.1 may run too; or before the limit is over,
 * so that a program which needs both at once goes on. In place of s2.1 may stand a1.3: the third
 * access that host thread 1 announces (annotate.h). With `blocks` only the first N blocks to
 * arrive are held. The single word `serialize` asks for the opposite: the host waits behind each
 * item. One thread. */
#ifndef SSAN_TRACE_GATE_WORDS_H
#define SSAN_TRACE_GATE_WORDS_H

#include "trace/plan.h"

#define GATE_SERIALIZE "serialize"

#define GATE_LIMIT_MS   300
#define GATE_GRACE_MS   20
#define GATE_MOST_MS    60000 /* of either time: nobody waits for longer */
#define GATE_MOST_HELD  128   /* of `blocks` */
#define GATE_MOST       16    /* gates of a run */
#define GATE_WORDS_ROOM 128   /* bytes of any gate in words, with its NUL */

struct gate_words {
    struct plan_item held, until;
    bool by_host;      /* `until` is an announced access: thread and number, from 1 */
    uint32_t limit_ms; /* from when its first block arrived */
    uint32_t grace_ms; /* behind the end of `until` */
    uint32_t blocks;   /* that are held at most; 0: all */
};

/* Reads a gate, which is not `serialize`. SSAN_USAGE: the text says what is wrong; `gate` is
 * unchanged then. */
enum ssan_status gate_words_read(struct gate_words *gate, const char *words,
                                 struct ssan_error *err);
/* Writes "s2.1" or "a1.3": what the kernel is held for. */
void gate_words_until(const struct gate_words *gate, char *text, size_t room);
/* Writes the shortest words that read back to the same gate, GATE_WORDS_ROOM bytes at most. */
void gate_words_print(const struct gate_words *gate, char *text, size_t room);

#endif
