/* The events of a trace as C structs, and a table that describes their fields.
 *
 * Everything is made from event.def and enums.def: struct ssan_ev_<name>, SSAN_EV_<NAME>, enum
 * ssan_<table>, and the descriptors by which writer, reader and listing handle every event with the
 * same code. An event borrows its strings and arrays: who hands one on says how long they live. */
#ifndef SSAN_TRACE_EVENT_H
#define SSAN_TRACE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a STR field; `ptr` may be NULL when `length` is 0. Not NUL-terminated. */
struct ssan_str {
    const char *ptr;
    uint32_t length;
};

/* `count` (>= 1) pieces of `length` (>= 1) bytes, the first at `address`, each `stride` bytes
 * behind the one before (0 when count is 1; stride >= length otherwise, so pieces never overlap).
 */
struct ssan_run {
    uint64_t address, length, stride, count;
};

struct ssan_runs {
    const struct ssan_run *ptr;
    uint32_t count;
};

/* A leaf of a set_leaf, with a bit for each of its bytes. */
#define SSAN_LEAF_BYTES 4096u
#define SSAN_LEAF_WORDS (SSAN_LEAF_BYTES / 64u)

struct ssan_u64s {
    const uint64_t *ptr;
    uint32_t count;
};

/* clang-format off: lists of macros */
#define TABLE(name)                                                                                \
    enum ssan_##name                                                                               \
    {
#define VALUE(table, value, word) SSAN_##table##_##value,
#define TABLE_END(name)                                                                            \
    ssan_##name##_count                                                                            \
    }                                                                                              \
    ;
/* enum ssan_access { SSAN_access_READ, ... }: see ssan_enum_word for their words */
#include "trace/enums.def"

enum ssan_enum_table {
#define TABLE(name) SSAN_TABLE_##name,
#include "trace/enums.def"
    SSAN_TABLE_count
};

enum ssan_event_kind {
    SSAN_EV_none, /* never in a trace */
#define EVENT(name) SSAN_EV_##name,
#include "trace/event.def"
    SSAN_EV_count
};

#define EVENT(name)        struct ssan_ev_##name {
#define U32(field)         uint32_t field;
#define U64(field)         uint64_t field;
#define X64(field)         uint64_t field;
#define ENUM(field, table) enum ssan_##table field;
#define STR(field)         struct ssan_str field;
#define RUNS(field)        struct ssan_runs field;
#define U64S(field)        struct ssan_u64s field;
#define END(name)                                                                                  \
    }                                                                                              \
    ;
#include "trace/event.def"

struct ssan_event {
    enum ssan_event_kind kind;
    union {
#define EVENT(name) struct ssan_ev_##name name;
#include "trace/event.def"
    };
};

/* clang-format on */

enum ssan_field_type {
    SSAN_FIELD_U32,
    SSAN_FIELD_U64,
    SSAN_FIELD_X64,
    SSAN_FIELD_ENUM,
    SSAN_FIELD_STR,
    SSAN_FIELD_RUNS,
    SSAN_FIELD_U64S,
};

struct ssan_field {
    const char *name;
    enum ssan_field_type type;
    enum ssan_enum_table table; /* ENUM only */
    size_t offset;              /* in struct ssan_event */
};

struct ssan_event_info {
    const char *name;
    const struct ssan_field *fields;
    size_t field_count;
};

/* NULL for a kind that does not exist. */
const struct ssan_event_info *ssan_event_info(uint32_t kind);
/* SSAN_EV_none for an unknown name. */
enum ssan_event_kind ssan_event_find(const char *name, size_t length);
/* NULL for a value outside the table. */
const char *ssan_enum_word(enum ssan_enum_table table, uint32_t value);
/* -1 for an unknown word. */
int ssan_enum_find(enum ssan_enum_table table, const char *word, size_t length);

/* Where the last piece of a run ends. False for one that no producer makes: without bytes, with
 * pieces that overlap, or leaving the address space. */
bool ssan_run_end(const struct ssan_run *run, uint64_t *end);

/* How many leaves a set_leaf holds; 0 for one that no producer makes: of another unit, with a part
 * of a leaf, at an odd address, or leaving the address space. */
uint32_t ssan_leaf_count(const struct ssan_ev_set_leaf *set);
/* Leaf `i` of them with a bit for each byte: points into the event, or to `room`. */
const uint64_t *ssan_leaf_bits(const struct ssan_ev_set_leaf *set, uint32_t i,
                               uint64_t room[SSAN_LEAF_WORDS]);

/* A string literal or NUL-terminated text as a field. */
struct ssan_str ssan_str(const char *text);

#endif
