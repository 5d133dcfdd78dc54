/* Reads .eh_frame_hdr and .eh_frame: the entry of a function, then its program up to an address.
 *
 * Invariant: no byte outside of the segments that the caller names is read; whatever is not
 * understood gives no row, never a guess. Naive model: the table of the DWARF standard (6.4), one
 * row an address. Cost: a binary search over the functions of an object and the program of one
 * function; callers keep what they learn. */
#include "capture/unwind_cfi.h"

#include "capture/unwind_read.h"

#include <string.h>

#define HEADER_TABLE_ENCODING 0x3b /* pairs of signed 32-bit offsets from the header */
#define REMEMBERED            6

struct entry {
    uint64_t pc_begin;
    uint64_t code_factor;
    int64_t data_factor;
    uint32_t return_register;
    bool is_signal_frame;
    struct reader common, own; /* the two programs */
};

struct machine {
    const struct entry *entry;
    uint64_t location, target;
    struct cfi_row row, initial;
    struct cfi_row kept[REMEMBERED];
    unsigned kept_count;
    bool failed;
};

uint64_t cfi_tables(const struct cfi_object *object)
{
    struct reader in = {(const uint8_t *)(uintptr_t)object->header,
                        (const uint8_t *)(uintptr_t)object->header_end, false};
    uint8_t version = read_u8(&in), tables_encoding = read_u8(&in), count_encoding = read_u8(&in);
    uint8_t table_encoding = read_u8(&in);
    uint64_t tables = read_encoded(&in, tables_encoding, object->header);
    if (in.bad || version != 1 || table_encoding != HEADER_TABLE_ENCODING ||
        count_encoding == READ_OMITTED) {
        return 0;
    }
    return tables;
}

/* The address of the entry whose function may hold pc; 0: none. */
static uint64_t search(const struct cfi_object *object, uint64_t pc)
{
    struct reader in = {(const uint8_t *)(uintptr_t)object->header,
                        (const uint8_t *)(uintptr_t)object->header_end, false};
    uint8_t tables_encoding, count_encoding;
    const uint8_t *pairs;
    uint64_t count, low = 0, high;
    (void)read_u8(&in);
    tables_encoding = read_u8(&in);
    count_encoding = read_u8(&in);
    (void)read_u8(&in);
    (void)read_encoded(&in, tables_encoding, object->header);
    count = read_encoded(&in, count_encoding, object->header);
    if (in.bad || count == 0 || count > (uint64_t)(in.end - in.at) / 8) {
        return 0;
    }
    pairs = in.at;
    high = count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        int32_t offset;
        memcpy(&offset, pairs + middle * 8, sizeof offset);
        if (object->header + (uint64_t)(int64_t)offset <= pc) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low > 0) {
        int32_t offset;
        memcpy(&offset, pairs + (low - 1) * 8 + 4, sizeof offset);
        return object->header + (uint64_t)(int64_t)offset;
    }
    return 0;
}

/* A reader over the content of the entry at `address`, behind its length. */
static struct reader open_entry(const struct cfi_object *object, uint64_t address)
{
    struct reader in = {.bad = true};
    uint32_t length;
    if (address < object->tables_begin || address >= object->tables_end ||
        object->tables_end - address < 8) {
        return in;
    }
    in = (struct reader){(const uint8_t *)(uintptr_t)address,
                         (const uint8_t *)(uintptr_t)object->tables_end, false};
    length = read_u32(&in);
    if (length < 4 || length == UINT32_MAX || length > (uint64_t)(in.end - in.at)) {
        in.bad = true;
    } else {
        in.end = in.at + length;
    }
    return in;
}

/* Reads what the augmentation string announces. */
static void read_augmentation(struct reader *in, const char *letters, struct entry *entry,
                              uint8_t *encoding)
{
    const uint8_t *behind;
    uint64_t length = read_uleb(in);
    if (length > (uint64_t)(in->end - in->at)) {
        in->bad = true;
        return;
    }
    behind = in->at + length;
    for (letters++; *letters && !in->bad; letters++) {
        if (*letters == 'R') {
            *encoding = read_u8(in);
        } else if (*letters == 'L') {
            (void)read_u8(in);
        } else if (*letters == 'P') {
            uint8_t personality = read_u8(in);
            (void)read_encoded(in, personality & (uint8_t)~READ_INDIRECT, 0);
        } else if (*letters == 'S') {
            entry->is_signal_frame = true;
        } else if (*letters != 'B') {
            break; /* the rest is skipped by its length */
        }
    }
    in->at = behind;
}

/* The entry common to functions. */
static bool read_common(const struct cfi_object *object, uint64_t address, struct entry *entry,
                        uint8_t *encoding, bool *has_length)
{
    struct reader in = open_entry(object, address);
    uint32_t id = read_u32(&in);
    uint8_t version = read_u8(&in);
    const char *letters = read_text(&in);
    if (in.bad || id != 0 || (version != 1 && version != 3)) {
        return false;
    }
    entry->code_factor = read_uleb(&in);
    entry->data_factor = read_sleb(&in);
    entry->return_register = version == 1 ? read_u8(&in) : (uint32_t)read_uleb(&in);
    *encoding = 0;
    *has_length = letters[0] == 'z';
    if (*has_length) {
        read_augmentation(&in, letters, entry, encoding);
    } else if (letters[0] != '\0') {
        return false;
    }
    entry->common = in;
    return !in.bad && entry->return_register == CFI_RA;
}

static bool read_entry(const struct cfi_object *object, uint64_t address, uint64_t pc,
                       struct entry *entry)
{
    struct reader in = open_entry(object, address);
    const uint8_t *pointer = in.at;
    uint32_t distance = read_u32(&in);
    uint8_t encoding;
    uint64_t size;
    bool has_length;
    if (in.bad || distance == 0 || distance > (uint64_t)(uintptr_t)pointer ||
        !read_common(object, (uint64_t)(uintptr_t)pointer - distance, entry, &encoding,
                     &has_length)) {
        return false;
    }
    entry->pc_begin = read_encoded(&in, encoding, object->header);
    size = read_encoded(&in, encoding & 0x0f, object->header);
    if (has_length) {
        uint64_t length = read_uleb(&in);
        if (in.bad || length > (uint64_t)(in.end - in.at)) {
            return false;
        }
        in.at += length;
    }
    entry->own = in;
    return !in.bad && pc >= entry->pc_begin && pc - entry->pc_begin < size;
}

static void set_rule(struct machine *m, uint64_t number, enum cfi_kind kind, int64_t value)
{
    if (number < CFI_REGISTERS) {
        m->row.rules[number] = (struct cfi_rule){.kind = kind, .value = value};
    }
}

static struct cfi_block read_block(struct machine *m, struct reader *in)
{
    uint64_t length = read_uleb(in);
    struct cfi_block block = {in->at, in->at};
    if (in->bad || length > (uint64_t)(in->end - in->at)) {
        m->failed = true;
        return block;
    }
    block.end = in->at += length;
    return block;
}

static void set_block(struct machine *m, struct reader *in, enum cfi_kind kind)
{
    uint64_t number = read_uleb(in);
    struct cfi_block block = read_block(m, in);
    set_rule(m, number, kind, 0);
    if (number < CFI_REGISTERS) {
        m->row.rules[number].block = block;
    }
}

static void restore(struct machine *m, uint64_t number)
{
    if (number < CFI_REGISTERS) {
        m->row.rules[number] = m->initial.rules[number];
    }
}

/* Instructions that set the CFA. False: it is another one. */
static bool step_cfa(struct machine *m, struct reader *in, uint8_t code)
{
    switch (code) {
    case 0x0c: /* def_cfa */
        m->row.cfa_register = (uint32_t)read_uleb(in);
        m->row.cfa_offset = (int64_t)read_uleb(in);
        break;
    case 0x12: /* def_cfa_sf */
        m->row.cfa_register = (uint32_t)read_uleb(in);
        m->row.cfa_offset = read_sleb(in) * m->entry->data_factor;
        break;
    case 0x0d: /* def_cfa_register */
        m->row.cfa_register = (uint32_t)read_uleb(in);
        break;
    case 0x0e: /* def_cfa_offset */
        m->row.cfa_offset = (int64_t)read_uleb(in);
        break;
    case 0x13: /* def_cfa_offset_sf */
        m->row.cfa_offset = read_sleb(in) * m->entry->data_factor;
        break;
    case 0x0f: /* def_cfa_expression */
        m->row.cfa_block = read_block(m, in);
        m->row.has_cfa_block = true;
        return true;
    default:
        return false;
    }
    m->row.has_cfa_block = false;
    return true;
}

/* Instructions that set a register. False: it is another one. */
static bool step_rule(struct machine *m, struct reader *in, uint8_t code)
{
    uint64_t number;
    switch (code) {
    case 0x05: /* offset_extended */
        number = read_uleb(in);
        set_rule(m, number, CFI_OFFSET, (int64_t)read_uleb(in) * m->entry->data_factor);
        return true;
    case 0x11: /* offset_extended_sf */
        number = read_uleb(in);
        set_rule(m, number, CFI_OFFSET, read_sleb(in) * m->entry->data_factor);
        return true;
    case 0x06: /* restore_extended */
        restore(m, read_uleb(in));
        return true;
    case 0x07: /* undefined */
        set_rule(m, read_uleb(in), CFI_UNDEFINED, 0);
        return true;
    case 0x08: /* same_value */
        set_rule(m, read_uleb(in), CFI_SAME, 0);
        return true;
    case 0x09: /* register */
        number = read_uleb(in);
        set_rule(m, number, CFI_REGISTER, (int64_t)read_uleb(in));
        return true;
    case 0x10: /* expression */
        set_block(m, in, CFI_EXPRESSION);
        return true;
    case 0x14: /* val_offset */
        number = read_uleb(in);
        set_rule(m, number, CFI_VALUE, (int64_t)read_uleb(in) * m->entry->data_factor);
        return true;
    case 0x15: /* val_offset_sf */
        number = read_uleb(in);
        set_rule(m, number, CFI_VALUE, read_sleb(in) * m->entry->data_factor);
        return true;
    case 0x16: /* val_expression */
        set_block(m, in, CFI_VALUE_EXPRESSION);
        return true;
    default:
        return false;
    }
}

/* Instructions without operands of rules, and those of compilers. */
static void step_other(struct machine *m, struct reader *in, uint8_t code)
{
    switch (code) {
    case 0x00: /* nop */
    case 0x2d: /* aarch64: the return address is signed, or no longer */
        break;
    case 0x0a: /* remember_state */
        if (m->kept_count == REMEMBERED) {
            m->failed = true;
        } else {
            m->kept[m->kept_count++] = m->row;
        }
        break;
    case 0x0b: /* restore_state */
        if (m->kept_count == 0) {
            m->failed = true;
        } else {
            m->row = m->kept[--m->kept_count];
        }
        break;
    case 0x2e: /* GNU_args_size */
        (void)read_uleb(in);
        break;
    default:
        m->failed = true;
    }
}

/* How far an instruction moves the address on; false: it is none that does. */
static bool advance(struct machine *m, struct reader *in, uint8_t code)
{
    uint64_t by;
    switch (code) {
    case 0x01: /* set_loc: in no table of today's compilers */
        m->failed = true;
        return true;
    case 0x02:
        by = read_u8(in);
        break;
    case 0x03:
        by = read_u16(in);
        break;
    case 0x04:
        by = read_u32(in);
        break;
    default:
        if (code >> 6 != 1) {
            return false;
        }
        by = code & 0x3f;
    }
    m->location += by * m->entry->code_factor;
    return true;
}

/* Runs a program until its end or the first address behind the target. */
static void run(struct machine *m, struct reader in)
{
    while (in.at < in.end && !in.bad && !m->failed) {
        uint8_t code = read_u8(&in);
        if (advance(m, &in, code)) {
            if (m->location > m->target) {
                return;
            }
        } else if (code >> 6 == 2) {
            set_rule(m, code & 0x3f, CFI_OFFSET, (int64_t)read_uleb(&in) * m->entry->data_factor);
        } else if (code >> 6 == 3) {
            restore(m, code & 0x3f);
        } else if (!step_cfa(m, &in, code) && !step_rule(m, &in, code)) {
            step_other(m, &in, code);
        }
    }
    m->failed |= in.bad;
}

bool cfi_find(const struct cfi_object *object, uint64_t pc, struct cfi_row *row)
{
    struct entry entry = {0};
    struct machine machine;
    uint64_t address = search(object, pc);
    if (!address || !read_entry(object, address, pc, &entry)) {
        return false;
    }
    memset(&machine, 0, sizeof machine);
    machine.entry = &entry;
    machine.location = entry.pc_begin;
    machine.target = pc;
    machine.row.is_signal_frame = entry.is_signal_frame;
    run(&machine, entry.common);
    machine.initial = machine.row;
    machine.kept_count = 0;
    run(&machine, entry.own);
    *row = machine.row;
    return !machine.failed;
}
