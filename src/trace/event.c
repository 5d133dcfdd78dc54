/* The field and word tables, made from event.def and enums.def. Constant; any thread. */
#include "trace/event.h"

#include <string.h>

/* clang-format off: lists of macros */
#define TABLE(name)               static const char *const words_##name[] = {
#define VALUE(table, value, word) word,
#define TABLE_END(name)                                                                            \
    }                                                                                              \
    ;
#include "trace/enums.def"

static const struct {
    const char *const *words;
    size_t count;
} tables[SSAN_TABLE_count] = {
#define TABLE(name) {words_##name, sizeof words_##name / sizeof *words_##name},
#include "trace/enums.def"
};

/* One function for each event, so that `self` names its struct and offsetof can be taken. */
#define AT(field) (offsetof(struct ssan_event, process) + offsetof(self, field))
#define EVENT(name)                                                                                \
    static const struct ssan_event_info *info_##name(void)                                         \
    {                                                                                              \
        typedef struct ssan_ev_##name self;                                                        \
        static const char own_name[] = #name;                                                      \
        static const struct ssan_field fields[] = {
#define U32(field)         {#field, SSAN_FIELD_U32, 0, AT(field)},
#define U64(field)         {#field, SSAN_FIELD_U64, 0, AT(field)},
#define X64(field)         {#field, SSAN_FIELD_X64, 0, AT(field)},
#define ENUM(field, table) {#field, SSAN_FIELD_ENUM, SSAN_TABLE_##table, AT(field)},
#define STR(field)         {#field, SSAN_FIELD_STR, 0, AT(field)},
#define RUNS(field)        {#field, SSAN_FIELD_RUNS, 0, AT(field)},
#define U64S(field)        {#field, SSAN_FIELD_U64S, 0, AT(field)},
#define END(name)                                                                                  \
    }                                                                                              \
    ;                                                                                              \
    static const struct ssan_event_info info = {own_name, fields, sizeof fields / sizeof *fields}; \
    return &info;                                                                                  \
    }
#include "trace/event.def"

/* Constant, as the device's constructors in libraries come before any constructor here. */
static const struct ssan_event_info *(*const infos[SSAN_EV_count])(void) = {
#define EVENT(name) [SSAN_EV_##name] = info_##name,
#include "trace/event.def"
};

/* clang-format on */

const struct ssan_event_info *ssan_event_info(uint32_t kind)
{
    return kind > SSAN_EV_none && kind < SSAN_EV_count ? infos[kind]() : NULL;
}

enum ssan_event_kind ssan_event_find(const char *name, size_t length)
{
    for (uint32_t kind = SSAN_EV_none + 1; kind < SSAN_EV_count; kind++) {
        const char *known = infos[kind]()->name;
        if (strlen(known) == length && memcmp(known, name, length) == 0) {
            return (enum ssan_event_kind)kind;
        }
    }
    return SSAN_EV_none;
}

const char *ssan_enum_word(enum ssan_enum_table table, uint32_t value)
{
    return (unsigned)table < SSAN_TABLE_count && value < tables[table].count
               ? tables[table].words[value]
               : NULL;
}

int ssan_enum_find(enum ssan_enum_table table, const char *word, size_t length)
{
    for (size_t value = 0; (unsigned)table < SSAN_TABLE_count && value < tables[table].count;
         value++) {
        const char *known = tables[table].words[value];
        if (strlen(known) == length && memcmp(known, word, length) == 0) {
            return (int)value;
        }
    }
    return -1;
}

bool ssan_run_end(const struct ssan_run *run, uint64_t *end)
{
    uint64_t span;
    return run->length > 0 && run->count > 0 && (run->count == 1 || run->stride >= run->length) &&
           !__builtin_mul_overflow(run->count - 1, run->stride, &span) &&
           !__builtin_add_overflow(span, run->length, &span) &&
           !__builtin_add_overflow(span, run->address, end);
}

uint32_t ssan_leaf_count(const struct ssan_ev_set_leaf *set)
{
    uint32_t words = SSAN_LEAF_WORDS >> (set->unit_log2 & 3u), count = set->bits.count / words;
    uint64_t end;
    bool is_sane = (set->unit_log2 == 0 || set->unit_log2 == 2) && set->bits.count % words == 0 &&
                   set->address % SSAN_LEAF_BYTES == 0 &&
                   !__builtin_add_overflow(set->address, (uint64_t)count * SSAN_LEAF_BYTES, &end);
    return is_sane ? count : 0;
}

/* Each of 16 bits four times. */
static uint64_t spread(uint64_t bits)
{
    bits = (bits | bits << 24) & UINT64_C(0x000000ff000000ff);
    bits = (bits | bits << 12) & UINT64_C(0x000f000f000f000f);
    bits = (bits | bits << 6) & UINT64_C(0x0303030303030303);
    bits = (bits | bits << 3) & UINT64_C(0x1111111111111111);
    return bits * 15;
}

const uint64_t *ssan_leaf_bits(const struct ssan_ev_set_leaf *set, uint32_t i,
                               uint64_t room[SSAN_LEAF_WORDS])
{
    if (set->unit_log2 == 0) {
        return set->bits.ptr + (size_t)i * SSAN_LEAF_WORDS;
    }
    const uint64_t *from = set->bits.ptr + (size_t)i * (SSAN_LEAF_WORDS / 4);
    for (uint32_t k = 0; k < SSAN_LEAF_WORDS; k++) {
        room[k] = spread(from[k / 4] >> (k % 4 * 16) & 0xffff);
    }
    return room;
}

struct ssan_str ssan_str(const char *text)
{
    return (struct ssan_str){text, text ? (uint32_t)strlen(text) : 0};
}
