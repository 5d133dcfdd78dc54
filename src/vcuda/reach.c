/* The latest kernel of each stream that may access another device's memory. Cost: an entry for each
 * such stream that was not joined; joins pass over them. */
#include "vcuda/reach.h"

#include "base/vec.h"

struct reaching {
    uint64_t op; /* of the latest kernel */
    uint32_t stream, ordinal, reach;
    bool blocking;
};

static VEC(struct reaching) open_kernels;
static bool forgot; /* out of memory: any device may have one */

struct reach_scope reach_scope(const struct stream *stream)
{
    return (struct reach_scope){.stream = stream->id,
                                .ordinal = stream->ordinal,
                                .legacy = stream->flavour == SSAN_stream_flavour_LEGACY};
}

void reach_accepted(struct op *op)
{
    const struct stream *stream = op->stream;
    op->scope = reach_scope(stream);
    if (op->kind != SSAN_op_kind_KERNEL || op->launch.reach == 1u << stream->ordinal) {
        return;
    }
    for (size_t i = 0; i < open_kernels.count; i++) {
        struct reaching *known = &open_kernels.items[i];
        if (known->stream == stream->id) {
            known->op = op->id;
            known->reach |= op->launch.reach;
            return;
        }
    }
    const struct reaching kernel = {.op = op->id,
                                    .stream = stream->id,
                                    .ordinal = stream->ordinal,
                                    .reach = op->launch.reach,
                                    .blocking =
                                        stream->flavour != SSAN_stream_flavour_NON_BLOCKING};
    forgot |= !VEC_PUSH(&open_kernels, kernel);
}

static void forget(size_t *at)
{
    open_kernels.items[(*at)--] = open_kernels.items[--open_kernels.count];
}

void reach_joined(struct reach_scope scope, uint64_t until)
{
    for (size_t i = 0; i < open_kernels.count; i++) {
        const struct reaching *kernel = &open_kernels.items[i];
        const bool covered = kernel->stream == scope.stream ||
                             (scope.legacy && kernel->blocking && kernel->ordinal == scope.ordinal);
        if (covered && kernel->op <= until) {
            forget(&i);
        }
    }
}

void reach_joined_device(uint32_t ordinal, uint64_t until)
{
    for (size_t i = 0; i < open_kernels.count; i++) {
        if (open_kernels.items[i].ordinal == ordinal && open_kernels.items[i].op <= until) {
            forget(&i);
        }
    }
}

bool reach_is_open(uint32_t ordinal, uint32_t peer)
{
    bool found = forgot;
    for (size_t i = 0; i < open_kernels.count; i++) {
        const struct reaching *kernel = &open_kernels.items[i];
        found |= kernel->ordinal == ordinal && (kernel->reach >> peer & 1);
    }
    return found;
}
