/* Which edge of the pipeline library the program goes without, by its name in edges.def; with the
 * library as it is, none. */
#ifndef SSAN_TESTS_PIPELINE_PROGRAMS_MUTANT_H
#define SSAN_TESTS_PIPELINE_PROGRAMS_MUTANT_H

#ifdef WITH_MUTANTS
#include <streamsan/annotate.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
#define SSAN_PIPE_DROPPED ssan_pipe_dropped
#define SSAN_PIPE_DROPPED_AT_RUN_TIME
#include "pipeline/edges.h"
enum pipe_edge ssan_pipe_dropped = PIPE_EDGE_NONE;
}

static void set_mutant(const char *wanted)
{
    static const char *const names[] = {
        "NONE",
#define EDGE(name, from, to, without) #name,
#include "pipeline/edges.def"
#undef EDGE
    };
    for (int i = 0; i < PIPE_EDGE_COUNT; i++) {
        if (std::strcmp(wanted, names[i]) == 0) {
            ssan_pipe_dropped = (enum pipe_edge)i;
            return;
        }
    }
    std::printf("unknown mutant %s\n", wanted);
    std::exit(64);
}
#else
static void set_mutant(const char *)
{
}
#endif

#endif
