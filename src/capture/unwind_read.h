/* Numbers as .eh_frame and DWARF expressions store them, read from a bounded piece of memory.
 *
 * A read behind the end gives 0 and sets `bad`, which stays. Inline: tables are read byte by byte.
 */
#ifndef SSAN_CAPTURE_UNWIND_READ_H
#define SSAN_CAPTURE_UNWIND_READ_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define READ_OMITTED  0xff
#define READ_INDIRECT 0x80

struct reader {
    const uint8_t *at, *end;
    bool bad;
};

static inline uint64_t read_bytes(struct reader *in, unsigned count)
{
    uint64_t value = 0;
    if (in->bad || (uint64_t)(in->end - in->at) < count) {
        in->bad = true;
        return 0;
    }
    memcpy(&value, in->at, count);
    in->at += count;
    return value;
}

static inline uint8_t read_u8(struct reader *in)
{
    return (uint8_t)read_bytes(in, 1);
}

static inline uint16_t read_u16(struct reader *in)
{
    return (uint16_t)read_bytes(in, 2);
}

static inline uint32_t read_u32(struct reader *in)
{
    return (uint32_t)read_bytes(in, 4);
}

static inline uint64_t read_uleb(struct reader *in)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = read_u8(in);
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            return value;
        }
    }
    in->bad = true;
    return 0;
}

static inline int64_t read_sleb(struct reader *in)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64;) {
        uint8_t byte = read_u8(in);
        value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
        if (!(byte & 0x80)) {
            if (shift < 64 && (byte & 0x40)) {
                value |= UINT64_MAX << shift;
            }
            return (int64_t)value;
        }
    }
    in->bad = true;
    return 0;
}

/* NUL-terminated; "" behind the end. */
static inline const char *read_text(struct reader *in)
{
    const char *text = (const char *)in->at;
    const uint8_t *end = in->bad ? NULL : memchr(in->at, 0, (size_t)(in->end - in->at));
    if (!end) {
        in->bad = true;
        return "";
    }
    in->at = end + 1;
    return text;
}

/* A pointer in one of the encodings of exception tables; `data` is what "datarel" counts from. */
static inline uint64_t read_encoded(struct reader *in, uint8_t encoding, uint64_t data)
{
    uint64_t at = (uint64_t)(uintptr_t)in->at, value;
    if (encoding == READ_OMITTED) {
        return 0;
    }
    switch (encoding & 0x0f) {
    case 0x00:
    case 0x04:
    case 0x0c:
        value = read_bytes(in, 8);
        break;
    case 0x01:
        value = read_uleb(in);
        break;
    case 0x02:
        value = read_u16(in);
        break;
    case 0x03:
        value = read_u32(in);
        break;
    case 0x09:
        value = (uint64_t)read_sleb(in);
        break;
    case 0x0a:
        value = (uint64_t)(int16_t)read_u16(in);
        break;
    case 0x0b:
        value = (uint64_t)(int32_t)read_u32(in);
        break;
    default:
        in->bad = true;
        return 0;
    }
    switch (encoding & 0xf0) {
    case 0x00:
        return value;
    case 0x10:
        return value ? value + at : 0;
    case 0x30:
        return value + data;
    default: /* indirect and aligned ones are not of interest here */
        in->bad = true;
        return 0;
    }
}

#endif
