/* Call frame information of one loaded object (.eh_frame, found by .eh_frame_hdr): which row of the
 * unwind table holds at an address. Reads only the object's own tables; no memory, any thread. */
#ifndef SSAN_CAPTURE_UNWIND_CFI_H
#define SSAN_CAPTURE_UNWIND_CFI_H

#include <stdbool.h>
#include <stdint.h>

#if defined __x86_64__
#define CFI_REGISTERS 17u /* rax .. r15, return address */
#define CFI_FP        6u
#define CFI_SP        7u
#define CFI_RA        16u
#elif defined __aarch64__
#define CFI_REGISTERS 32u /* x0 .. x30, sp */
#define CFI_FP        29u
#define CFI_SP        31u
#define CFI_RA        30u
#else
#error "unwinding is written for x86-64 and aarch64"
#endif

enum cfi_kind {
    CFI_SAME,             /* the caller's value is still in the register */
    CFI_UNDEFINED,        /* lost; of the return address: this is the outermost frame */
    CFI_OFFSET,           /* stored at CFA + value */
    CFI_VALUE,            /* is CFA + value */
    CFI_REGISTER,         /* is in register `value` */
    CFI_EXPRESSION,       /* stored at the address that the expression gives */
    CFI_VALUE_EXPRESSION, /* is what the expression gives */
};

/* An expression: a DWARF block in the object's tables. */
struct cfi_block {
    const uint8_t *begin, *end;
};

struct cfi_rule {
    enum cfi_kind kind;
    int64_t value;
    struct cfi_block block;
};

struct cfi_row {
    bool is_signal_frame; /* the frame below was interrupted, not left by a call */
    bool has_cfa_block;   /* the CFA is what `cfa_block` gives, else cfa_register + cfa_offset */
    uint32_t cfa_register;
    int64_t cfa_offset;
    struct cfi_block cfa_block;
    struct cfi_rule rules[CFI_REGISTERS];
};

/* The readable segments of a loaded object around its tables. */
struct cfi_object {
    uint64_t header;                   /* of .eh_frame_hdr, as it is mapped */
    uint64_t header_end;               /* end of the segment that holds it */
    uint64_t tables_begin, tables_end; /* of the segment that holds .eh_frame; set by the caller to
                                          that of the header when they are one */
};

/* Where .eh_frame begins by the header; 0: no header that we read. */
uint64_t cfi_tables(const struct cfi_object *object);

/* The row for the instruction at `pc`. False: none, or one that we do not understand. */
bool cfi_find(const struct cfi_object *object, uint64_t pc, struct cfi_row *row);

#endif
