/* The edges of edges.def, and the switch that leaves one out.
 *
 * -DSSAN_PIPE_DROPPED=PIPE_EDGE_<NAME> builds a pipeline without that edge; tests define it as a
 * variable instead, so that one build has them all. In what is installed it is PIPE_EDGE_NONE, and
 * the compiler removes the question. */
#ifndef SSAN_PIPELINE_EDGES_H
#define SSAN_PIPELINE_EDGES_H

/* What is found at run time must not be hidden, whatever the library is built with. */
#pragma GCC visibility push(default)
#include "streamsan/annotate.h"
#pragma GCC visibility pop

enum pipe_edge {
    PIPE_EDGE_NONE,
#define EDGE(name, from, to, without) PIPE_EDGE_##name,
#include "pipeline/edges.def"
#undef EDGE
    PIPE_EDGE_COUNT
};

#ifndef SSAN_PIPE_DROPPED
#define SSAN_PIPE_DROPPED PIPE_EDGE_NONE
#elif defined(SSAN_PIPE_DROPPED_AT_RUN_TIME)
extern enum pipe_edge SSAN_PIPE_DROPPED;
#endif

#define pipe_has_edge(name) (SSAN_PIPE_DROPPED != PIPE_EDGE_##name)

/* One host thread gives `object` to another: the giver before it locks, the taker behind its
 * unlocking. */
#define pipe_give(edge, object)                                                                    \
    do {                                                                                           \
        if (pipe_has_edge(edge)) {                                                                 \
            SSAN_HAPPENS_BEFORE(object);                                                           \
        }                                                                                          \
    } while (0)
#define pipe_get(edge, object)                                                                     \
    do {                                                                                           \
        if (pipe_has_edge(edge)) {                                                                 \
            SSAN_HAPPENS_AFTER(object);                                                            \
        }                                                                                          \
    } while (0)

#endif
