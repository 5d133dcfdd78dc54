/* Closure in topological order: the row of a node is the union of its predecessors' rows and the
 * predecessors. */
#include "support/oracle_graph.h"

#include "support/must.h"

int graph_node(struct graph *graph)
{
    return graph->nodes++;
}

void graph_edge(struct graph *graph, int from, int to, unsigned worlds)
{
    if (from >= 0) {
        MUST(VEC_PUSH(&graph->edges, (struct graph_edge){from, to, worlds}));
    }
}

/* Edges sorted by their source: those of node n are list[start[n]] .. list[start[n + 1]]. */
struct out_edges {
    int *start, *list;
};

static struct out_edges sort_edges(const struct graph *graph)
{
    struct out_edges out = {
        mem_zalloc((size_t)graph->nodes + 2, sizeof *out.start),
        mem_zalloc(graph->edges.count + 1, sizeof *out.list),
    };
    MUST(out.start && out.list);
    for (size_t i = 0; i < graph->edges.count; i++) {
        out.start[graph->edges.items[i].from + 2]++;
    }
    for (int n = 0; n < graph->nodes; n++) {
        out.start[n + 2] += out.start[n + 1];
    }
    for (size_t i = 0; i < graph->edges.count; i++) {
        out.list[out.start[graph->edges.items[i].from + 1]++] = (int)i;
    }
    return out;
}

/* Hands what is before `edge->from`, and that node, on to `edge->to`. */
static void hand_on(struct graph *graph, const struct graph_edge *edge)
{
    for (int w = 0; w < WORLD_COUNT; w++) {
        if (!(edge->worlds & (1u << w))) {
            continue;
        }
        const uint64_t *from = graph->before[w] + (size_t)edge->from * graph->words;
        uint64_t *to = graph->before[w] + (size_t)edge->to * graph->words;
        for (size_t i = 0; i < graph->words; i++) {
            to[i] |= from[i];
        }
        to[edge->from / 64] |= UINT64_C(1) << (edge->from % 64);
    }
}

bool graph_close(struct graph *graph)
{
    graph->words = (size_t)(graph->nodes + 63) / 64;
    for (int w = 0; w < WORLD_COUNT; w++) {
        graph->before[w] = mem_zalloc((size_t)graph->nodes * graph->words + 1, sizeof(uint64_t));
        MUST(graph->before[w]);
    }
    struct out_edges out = sort_edges(graph);
    int *open = mem_zalloc((size_t)graph->nodes + 1, sizeof *open);
    int *ready = mem_zalloc((size_t)graph->nodes + 1, sizeof *ready);
    MUST(open && ready);
    int known = 0, done = 0;
    for (size_t i = 0; i < graph->edges.count; i++) {
        open[graph->edges.items[i].to]++;
    }
    for (int n = 0; n < graph->nodes; n++) {
        if (open[n] == 0) {
            ready[known++] = n;
        }
    }
    while (done < known) {
        int node = ready[done++];
        for (int i = out.start[node]; i < out.start[node + 1]; i++) {
            const struct graph_edge *edge = &graph->edges.items[out.list[i]];
            hand_on(graph, edge);
            if (--open[edge->to] == 0) {
                ready[known++] = edge->to;
            }
        }
    }
    mem_free(open);
    mem_free(ready);
    mem_free(out.start);
    mem_free(out.list);
    return done == graph->nodes;
}

bool graph_path(const struct graph *graph, int from, int to, enum graph_world world)
{
    int w = __builtin_ctz((unsigned)world);
    return (graph->before[w][(size_t)to * graph->words + (size_t)from / 64] >> (from % 64)) & 1;
}

void graph_finish(struct graph *graph)
{
    VEC_FREE(&graph->edges);
    for (int w = 0; w < WORLD_COUNT; w++) {
        mem_free(graph->before[w]);
        graph->before[w] = NULL;
    }
}
