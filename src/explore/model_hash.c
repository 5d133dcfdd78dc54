/* What a host call asked for as one number. Addresses become allocation and offset, pageable ones
 * nothing but that: so two processes with other address layouts agree. */
#include "explore/model_read.h"

#include "base/hash.h"

struct hash {
    uint64_t value;
};

static void mix(struct hash *hash, uint64_t word)
{
    hash->value = hash_mix(hash->value, word);
}

static void mix_text(struct hash *hash, struct ssan_str text)
{
    mix(hash, text.length);
    for (uint32_t i = 0; i < text.length; i++) {
        mix(hash, (unsigned char)text.ptr[i]);
    }
}

/* The allocation that is alive and holds the address. */
static void mix_address(struct hash *hash, const struct reading *reading, uint64_t address)
{
    size_t behind = model_alive_behind(reading, address);
    if (address != 0 && behind > 0) {
        const struct model_alloc *alloc =
            &reading->model->allocs.items[reading->alive.items[behind - 1]];
        if (address - alloc->address < alloc->size) {
            mix(hash, alloc->id);
            mix(hash, address - alloc->address);
            return;
        }
    }
    mix(hash, address != 0);
}

static void mix_op(struct hash *hash, const struct reading *reading, const struct ssan_ev_op *op)
{
    const uint64_t words[] = {op->stream,  (uint64_t)op->kind, (uint64_t)op->form, op->event,
                              op->width,   op->height,         op->dst_pitch,      op->src_pitch,
                              op->grid_x,  op->grid_y,         op->grid_z,         op->block_x,
                              op->block_y, op->block_z,        op->thread};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        mix(hash, words[i]);
    }
    mix_text(hash, op->call);
    mix_text(hash, op->name);
    mix_address(hash, reading, op->dst);
    mix_address(hash, reading, op->src);
}

uint64_t model_hash_event(const struct reading *reading, const struct ssan_event *event)
{
    struct hash hash = {(uint64_t)event->kind};
    switch (event->kind) {
    case SSAN_EV_op:
        mix_op(&hash, reading, &event->op);
        break;
    case SSAN_EV_alloc:
        mix(&hash, event->alloc.alloc);
        mix(&hash, (uint64_t)event->alloc.memory);
        mix(&hash, event->alloc.size);
        mix_text(&hash, event->alloc.call);
        break;
    case SSAN_EV_free:
        mix(&hash, event->free.alloc);
        break;
    case SSAN_EV_sync:
        mix(&hash, (uint64_t)event->sync.kind);
        mix(&hash, event->sync.object);
        mix(&hash, event->sync.thread);
        break;
    case SSAN_EV_stream_create:
        mix(&hash, (uint64_t)event->stream_create.flavour);
        mix(&hash, event->stream_create.stream);
        break;
    case SSAN_EV_call:
        mix(&hash, event->call.thread);
        mix(&hash, event->call.number);
        mix(&hash, event->call.query);
        break;
    default:
        break;
    }
    return hash.value;
}

static void mix_piece(struct hash *hash, const struct piece *piece, uint64_t offset)
{
    mix(hash, offset);
    mix(hash, piece->length);
    mix(hash, piece->count);
    if (piece->scatter) {
        for (uint32_t i = 0; i < piece->count; i++) {
            mix(hash, (uint64_t)piece->shorts[i].offset << 16 | piece->shorts[i].length);
        }
    } else if (piece->length == 0) {
        for (unsigned i = 0; i < LEAF_WORDS; i++) {
            mix(hash, piece->bits[i]);
        }
    } else {
        mix(hash, piece->stride);
    }
}

/* A sum, since the order of addresses is not the same in every process. */
uint64_t model_hash_touched(const struct model *model, const struct model_item *item)
{
    uint64_t sum = 0;
    for (unsigned way = 0; way < ssan_access_count; way++) {
        const struct bytes *set = &item->ways[way];
        const struct model_alloc *alloc = NULL;
        for (uint32_t i = 0; i < set->count; i++) {
            const struct piece *piece = &bytes_pieces(set)[i];
            struct hash hash = {way};
            if (!alloc || piece->begin - alloc->address >= alloc->size) {
                alloc = model_alloc_at(model, piece->begin, item->submitted);
            }
            if (alloc) {
                mix(&hash, alloc->id);
                mix_piece(&hash, piece, piece->begin - alloc->address);
                sum += hash.value;
            }
        }
    }
    return sum;
}
