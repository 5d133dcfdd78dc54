/* Nodes, marked edges and their transitive closure as bit sets: the naive model itself.
 *
 * An edge carries the set of worlds it stands in. `graph_close` fills, for each world, the set of
 * all nodes before each node. O(nodes * edges / 64) time and nodes^2 / 8 bytes a world. Zeroed is
 * empty. */
#ifndef SSAN_TESTS_SUPPORT_ORACLE_GRAPH_H
#define SSAN_TESTS_SUPPORT_ORACLE_GRAPH_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

/* Readings, each without and with the joins that count for lifetimes only (R-HOST-7). */
enum graph_world {
    WORLD_DOCUMENTED = 1,
    WORLD_OBSERVED = 2,
    WORLD_DOCUMENTED_LIFE = 4,
    WORLD_OBSERVED_LIFE = 8,
    WORLD_ALL = 15,
    WORLD_ONLY_OBSERVED = WORLD_OBSERVED | WORLD_OBSERVED_LIFE,
    WORLD_ONLY_LIFE = WORLD_DOCUMENTED_LIFE | WORLD_OBSERVED_LIFE,
};

#define WORLD_COUNT 4

struct graph_edge {
    int from, to;
    unsigned worlds;
};

struct graph {
    int nodes;
    size_t words; /* of one row, set by graph_close */
    VEC(struct graph_edge) edges;
    uint64_t *before[WORLD_COUNT];
};

int graph_node(struct graph *graph);
/* Nothing when `from` is negative. */
void graph_edge(struct graph *graph, int from, int to, unsigned worlds);
/* False when the edges have a cycle. */
bool graph_close(struct graph *graph);
/* Whether a path leads from one node to another; `world` is one flag. After graph_close. */
bool graph_path(const struct graph *graph, int from, int to, enum graph_world world);
void graph_finish(struct graph *graph);

#endif
