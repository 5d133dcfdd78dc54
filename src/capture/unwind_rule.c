/* Packs a row of an unwind table into a rule, when it is one of the few shapes that compilers make.
 *
 * Invariant: a rule of kind SP, FP or REALIGNED gives the caller's pc, stack pointer and frame
 * pointer exactly as the row does. Everything else is left to the row itself. */
#include "capture/unwind_rule.h"

#include "capture/unwind_read.h"

#define OP_DEREF 0x06
#define OP_BREG  0x70 /* + the register */

/* Whether a number of bytes is a number of words of so many bits. */
static bool fits(int64_t bytes, unsigned bits)
{
    int64_t limit = INT64_C(8) << (bits - 1);
    return bytes % 8 == 0 && bytes >= -limit && bytes < limit;
}

static uint64_t field(int64_t bytes, unsigned shift, unsigned bits)
{
    return ((uint64_t)(bytes / 8) & ((UINT64_C(1) << bits) - 1)) << shift;
}

/* Reads "frame pointer + offset", behind which `tail` may stand. */
static bool is_fp_offset(struct cfi_block block, bool has_deref, int64_t *offset)
{
    struct reader in = {block.begin, block.end, false};
    uint8_t code = read_u8(&in);
    *offset = read_sleb(&in);
    return code == OP_BREG + CFI_FP && (!has_deref || read_u8(&in) == OP_DEREF) && !in.bad &&
           in.at == in.end;
}

/* Where the CFA comes from. RULE_TABLE: from elsewhere. */
static enum rule_kind cfa_kind(const struct cfi_row *row, int64_t *offset)
{
    *offset = row->cfa_offset;
    if (row->has_cfa_block) {
        return is_fp_offset(row->cfa_block, true, offset) ? RULE_REALIGNED : RULE_TABLE;
    }
    return row->cfa_register == CFI_SP   ? RULE_SP
           : row->cfa_register == CFI_FP ? RULE_FP
                                         : RULE_TABLE;
}

uint64_t rule_make(const struct cfi_row *row, uint32_t module, bool is_special, bool behind_call)
{
    uint64_t tail = (uint64_t)module << 49 | (uint64_t)is_special << 5 | (uint64_t)behind_call << 4;
    const struct cfi_rule *fp, *ra;
    int64_t cfa_offset, fp_offset = 0;
    enum rule_kind kind;
    if (!row) {
        return tail | RULE_CHAIN;
    }
    fp = &row->rules[CFI_FP];
    ra = &row->rules[CFI_RA];
    if (ra->kind == CFI_UNDEFINED) {
        return tail | RULE_OUTERMOST;
    }
    kind = cfa_kind(row, &cfa_offset);
    if (kind == RULE_REALIGNED && fp->kind == CFI_EXPRESSION) {
        kind = is_fp_offset(fp->block, false, &fp_offset) ? kind : RULE_TABLE;
    } else if (kind != RULE_REALIGNED && fp->kind == CFI_OFFSET) {
        fp_offset = fp->value;
    } else if (kind == RULE_REALIGNED || fp->kind != CFI_SAME) {
        kind = RULE_TABLE;
    }
    if (row->is_signal_frame || ra->kind != CFI_OFFSET || row->rules[CFI_SP].kind != CFI_SAME ||
        !fits(cfa_offset, 19) || !fits(fp_offset, 12) || !fits(ra->value, 12)) {
        kind = RULE_TABLE;
    }
    if (kind == RULE_TABLE) {
        return tail | RULE_TABLE;
    }
    return tail | kind | (uint64_t)(fp->kind != CFI_SAME) << 3 | field(cfa_offset, 6, 19) |
           field(fp_offset, 25, 12) | field(ra->value, 37, 12);
}
