/* Applies a row of an unwind table, with DWARF expressions.
 *
 * Invariant: only words of the stack [low, end) are read, so a wrong table ends the walk and does
 * no harm. Naive model: sections 2.5 and 6.4.4 of the DWARF standard. Cost: irrelevant, as signal
 * frames, realigned stacks and assembler get here, and no others. */
#include "capture/unwind_full.h"

#include "capture/unwind_memory.h"
#include "capture/unwind_read.h"

#define STACK_ROOM 32

struct evaluation {
    uint64_t stack[STACK_ROOM];
    unsigned count;
    const struct unwind_registers *registers;
    uint64_t low, end;
    bool failed;
};

static bool read_word(uint64_t address, uint64_t low, uint64_t end, uint64_t *word)
{
    if (address % 8 != 0 || address < low || address >= end || end - address < 8) {
        return false;
    }
    *word = unwind_word(address);
    return true;
}

static void push(struct evaluation *e, uint64_t value)
{
    if (e->count == STACK_ROOM) {
        e->failed = true;
    } else {
        e->stack[e->count++] = value;
    }
}

static uint64_t pop(struct evaluation *e)
{
    if (e->count == 0) {
        e->failed = true;
        return 0;
    }
    return e->stack[--e->count];
}

static void push_register(struct evaluation *e, uint64_t number, int64_t offset)
{
    if (number >= CFI_REGISTERS) {
        e->failed = true;
    } else if (number == CFI_RA && CFI_RA == CFI_REGISTERS - 1) {
        push(e, e->registers->pc + (uint64_t)offset); /* x86-64: the counter has a number */
    } else {
        push(e, e->registers->values[number] + (uint64_t)offset);
    }
}

/* Constants. False: it is another operation. */
static bool step_constant(struct evaluation *e, struct reader *in, uint8_t code)
{
    switch (code) {
    case 0x08: /* const1u */
        push(e, read_u8(in));
        return true;
    case 0x09: /* const1s */
        push(e, (uint64_t)(int64_t)(int8_t)read_u8(in));
        return true;
    case 0x0a: /* const2u */
        push(e, read_u16(in));
        return true;
    case 0x0b: /* const2s */
        push(e, (uint64_t)(int64_t)(int16_t)read_u16(in));
        return true;
    case 0x0c: /* const4u */
        push(e, read_u32(in));
        return true;
    case 0x0d: /* const4s */
        push(e, (uint64_t)(int64_t)(int32_t)read_u32(in));
        return true;
    case 0x10: /* constu */
        push(e, read_uleb(in));
        return true;
    case 0x11: /* consts */
        push(e, (uint64_t)read_sleb(in));
        return true;
    default:
        if (code >= 0x30 && code <= 0x4f) { /* lit0 .. lit31 */
            push(e, code - 0x30u);
            return true;
        }
        return false;
    }
}

/* Operations on the two uppermost values. False: it is another one. */
static bool step_pair(struct evaluation *e, uint8_t code)
{
    uint64_t b, a;
    if (code != 0x1a && code != 0x1c && code != 0x1e && code != 0x21 && code != 0x22 &&
        code != 0x24 && code != 0x25 && code != 0x27 && (code < 0x29 || code > 0x2e)) {
        return false;
    }
    b = pop(e);
    a = pop(e);
    switch (code) {
    case 0x1a:
        push(e, a & b);
        break;
    case 0x1c:
        push(e, a - b);
        break;
    case 0x1e:
        push(e, a * b);
        break;
    case 0x21:
        push(e, a | b);
        break;
    case 0x22:
        push(e, a + b);
        break;
    case 0x24:
        push(e, b < 64 ? a << b : 0);
        break;
    case 0x25:
        push(e, b < 64 ? a >> b : 0);
        break;
    case 0x27:
        push(e, a ^ b);
        break;
    case 0x29:
        push(e, a == b);
        break;
    case 0x2a:
        push(e, (int64_t)a >= (int64_t)b);
        break;
    case 0x2b:
        push(e, (int64_t)a > (int64_t)b);
        break;
    case 0x2c:
        push(e, (int64_t)a <= (int64_t)b);
        break;
    case 0x2d:
        push(e, (int64_t)a < (int64_t)b);
        break;
    default:
        push(e, a != b);
    }
    return true;
}

static void step_other(struct evaluation *e, struct reader *in, uint8_t code)
{
    uint64_t number, word;
    if (code >= 0x50 && code <= 0x6f) { /* reg0 .. reg31 */
        push_register(e, code - 0x50u, 0);
    } else if (code >= 0x70 && code <= 0x8f) { /* breg0 .. breg31 */
        push_register(e, code - 0x70u, read_sleb(in));
    } else if (code == 0x92) { /* bregx */
        number = read_uleb(in);
        push_register(e, number, read_sleb(in));
    } else if (code == 0x06) { /* deref */
        if (read_word(pop(e), e->low, e->end, &word)) {
            push(e, word);
        } else {
            e->failed = true;
        }
    } else if (code == 0x12) { /* dup */
        word = pop(e);
        push(e, word);
        push(e, word);
    } else if (code == 0x13) { /* drop */
        (void)pop(e);
    } else if (code == 0x23) { /* plus_uconst */
        word = pop(e);
        push(e, word + read_uleb(in));
    } else if (code != 0x96) { /* nop */
        e->failed = true;
    }
}

/* The value of an expression; `first` lies on its stack at the begin when `has_first`. */
static bool evaluate(struct cfi_block block, struct evaluation *e, bool has_first, uint64_t first,
                     uint64_t *value)
{
    struct reader in = {block.begin, block.end, false};
    e->count = 0;
    if (has_first) {
        push(e, first);
    }
    while (in.at < in.end && !in.bad && !e->failed) {
        uint8_t code = read_u8(&in);
        if (!step_constant(e, &in, code) && !step_pair(e, code)) {
            step_other(e, &in, code);
        }
    }
    *value = pop(e);
    return !in.bad && !e->failed;
}

/* The caller's value of a register; false: lost. */
static bool restore(const struct cfi_rule *rule, uint64_t cfa, uint64_t present,
                    struct evaluation *e, uint64_t *value)
{
    uint64_t address;
    switch (rule->kind) {
    case CFI_SAME:
        *value = present;
        return true;
    case CFI_OFFSET:
        return read_word(cfa + (uint64_t)rule->value, e->low, e->end, value);
    case CFI_VALUE:
        *value = cfa + (uint64_t)rule->value;
        return true;
    case CFI_REGISTER:
        *value = (uint64_t)rule->value < CFI_REGISTERS ? e->registers->values[rule->value] : 0;
        return (uint64_t)rule->value < CFI_REGISTERS;
    case CFI_EXPRESSION:
        return evaluate(rule->block, e, true, cfa, &address) &&
               read_word(address, e->low, e->end, value);
    case CFI_VALUE_EXPRESSION:
        return evaluate(rule->block, e, true, cfa, value);
    case CFI_UNDEFINED:
        break;
    }
    return false;
}

bool unwind_apply(const struct cfi_row *row, struct unwind_registers *registers, uint64_t low,
                  uint64_t end)
{
    struct unwind_registers caller = {0};
    struct evaluation e = {.registers = registers, .low = low, .end = end};
    uint64_t cfa = 0;
    if (row->has_cfa_block) {
        if (!evaluate(row->cfa_block, &e, false, 0, &cfa)) {
            return false;
        }
    } else if (row->cfa_register < CFI_REGISTERS) {
        cfa = registers->values[row->cfa_register] + (uint64_t)row->cfa_offset;
    }
    for (unsigned i = 0; i < CFI_REGISTERS; i++) {
        e.failed = false;
        if (!restore(&row->rules[i], cfa, registers->values[i], &e, &caller.values[i])) {
            caller.values[i] = 0;
            if (i == CFI_RA) {
                return false;
            }
        }
    }
    if (row->rules[CFI_SP].kind == CFI_SAME || row->rules[CFI_SP].kind == CFI_UNDEFINED) {
        caller.values[CFI_SP] = cfa;
    }
    caller.pc = caller.values[CFI_RA];
    *registers = caller;
    return caller.pc != 0;
}
