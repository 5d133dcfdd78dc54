/* Reads the header of a .npy file: a dictionary as Python's repr prints it, not Python at large.
 *
 * Invariant: nothing outside of the header's bytes is read, whatever they say; products of the
 * shape are checked. */
#include "compare/npy.h"

#include "compare/number.h"

#include <stdbool.h>
#include <string.h>

#define MAGIC       "\x93NUMPY"
#define MAGIC_BYTES 6
#define DESCR_ROOM  64

/* The dictionary, from `at` to `end`. */
struct text {
    const char *at, *end;
};

/* What it said. */
struct header {
    char descr[DESCR_ROOM];
    bool has_descr, has_order, has_shape;
    bool fortran_order;
};

bool npy_is(const void *bytes, size_t length)
{
    return length >= MAGIC_BYTES && memcmp(bytes, MAGIC, MAGIC_BYTES) == 0;
}

static void pass_space(struct text *text)
{
    while (text->at < text->end && strchr(" \t\r\n", *text->at) && *text->at) {
        text->at++;
    }
}

/* Passes `word` if it stands next. */
static bool take(struct text *text, const char *word)
{
    const size_t length = strlen(word);
    pass_space(text);
    if ((size_t)(text->end - text->at) < length || memcmp(text->at, word, length) != 0) {
        return false;
    }
    text->at += length;
    return true;
}

/* A text in quotes, without escapes. */
static bool take_quoted(struct text *text, char *out, size_t room)
{
    size_t length = 0;
    pass_space(text);
    const char quote = text->at < text->end ? *text->at : 0;
    if (quote != '\'' && quote != '"') {
        return false;
    }
    for (text->at++; text->at < text->end && *text->at != quote; text->at++) {
        if (*text->at == '\\' || *text->at == 0 || length + 1 == room) {
            return false;
        }
        out[length++] = *text->at;
    }
    out[length] = '\0';
    return text->at < text->end && *text->at++ == quote;
}

static bool take_number(struct text *text, uint64_t *number)
{
    pass_space(text);
    const char *begin = text->at;
    for (*number = 0; text->at < text->end && *text->at >= '0' && *text->at <= '9'; text->at++) {
        const unsigned digit = (unsigned)(*text->at - '0');
        if (*number > (UINT64_MAX - digit) / 10) {
            return false;
        }
        *number = 10 * *number + digit;
    }
    if (text->at < text->end && *text->at == 'L') { /* as Python 2 wrote it */
        text->at++;
        return text->at > begin + 1;
    }
    return text->at > begin;
}

/* "()", "(3,)", "(3, 4)" */
static bool take_shape(struct text *text, struct npy *npy)
{
    bool comma = true;
    npy->dimensions = 0;
    if (!take(text, "(")) {
        return false;
    }
    while (!take(text, ")")) {
        if (!comma || npy->dimensions == NPY_DIMENSIONS_MOST ||
            !take_number(text, &npy->shape[npy->dimensions++])) {
            return false;
        }
        comma = take(text, ",");
    }
    return npy->dimensions != 1 || comma; /* "(3)" is a number */
}

static bool take_bool(struct text *text, bool *value)
{
    *value = take(text, "True");
    return *value || take(text, "False");
}

/* One key with its value; each may stand there once. */
static bool take_entry(struct text *text, struct header *header, struct npy *npy)
{
    char key[DESCR_ROOM];
    if (!take_quoted(text, key, sizeof key) || !take(text, ":")) {
        return false;
    }
    if (strcmp(key, "descr") == 0 && !header->has_descr) {
        return header->has_descr = take_quoted(text, header->descr, sizeof header->descr);
    }
    if (strcmp(key, "fortran_order") == 0 && !header->has_order) {
        return header->has_order = take_bool(text, &header->fortran_order);
    }
    if (strcmp(key, "shape") == 0 && !header->has_shape) {
        return header->has_shape = take_shape(text, npy);
    }
    return false;
}

static bool take_dictionary(struct text *text, struct header *header, struct npy *npy)
{
    bool comma = true;
    if (!take(text, "{")) {
        return false;
    }
    while (!take(text, "}")) {
        if (!comma || !take_entry(text, header, npy)) {
            return false;
        }
        comma = take(text, ",");
    }
    pass_space(text);
    return text->at == text->end && header->has_descr && header->has_order && header->has_shape;
}

/* "<f4" and the like, to a type. */
static enum ssan_status take_type(struct npy *npy, const char *descr,
                                  const enum ssan_compare_type *wanted, struct ssan_error *err)
{
    static const struct {
        const char *code;
        enum ssan_compare_type type;
    } codes[] = {
        {"f2", SSAN_COMPARE_FLOAT16}, {"f4", SSAN_COMPARE_FLOAT32}, {"f8", SSAN_COMPARE_FLOAT64},
        {"i1", SSAN_COMPARE_INT8},    {"i2", SSAN_COMPARE_INT16},   {"i4", SSAN_COMPARE_INT32},
        {"i8", SSAN_COMPARE_INT64},   {"u1", SSAN_COMPARE_UINT8},   {"u2", SSAN_COMPARE_UINT16},
        {"u4", SSAN_COMPARE_UINT32},  {"u8", SSAN_COMPARE_UINT64},  {"b1", SSAN_COMPARE_UINT8},
    };
    const char *code = descr + (*descr && strchr("<>=|", *descr) != NULL);
    if (*descr == '>' && strcmp(code, "i1") != 0 && strcmp(code, "u1") != 0) {
        return ssan_fail(err, SSAN_FORMAT, 0,
                         "its elements are big-endian ('%s'), which is not read: save it with "
                         "a.astype(a.dtype.newbyteorder('<'))",
                         descr);
    }
    if (strcmp(code, "V2") == 0 && wanted && *wanted == SSAN_COMPARE_BFLOAT16) {
        npy->type = SSAN_COMPARE_BFLOAT16;
        return SSAN_OK;
    }
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        if (strcmp(codes[i].code, code) == 0) {
            npy->type = codes[i].type;
            return wanted && *wanted != npy->type
                       ? ssan_fail(err, SSAN_FORMAT, 0, "its elements are %s, not %s",
                                   ssan_compare_type_name(npy->type),
                                   ssan_compare_type_name(*wanted))
                       : SSAN_OK;
        }
    }
    return ssan_fail(err, SSAN_FORMAT, 0, "its elements are of type '%s', which is not compared%s",
                     descr,
                     strcmp(code, "V2") == 0 ? " (if it is bfloat16, say --type bfloat16)" : "");
}

static enum ssan_status count_elements(struct npy *npy, struct ssan_error *err)
{
    npy->count = 1;
    for (unsigned i = 0; i < npy->dimensions; i++) {
        if (npy->shape[i] == 0) {
            npy->count = 0;
            return SSAN_OK;
        }
    }
    for (unsigned i = 0; i < npy->dimensions; i++) {
        if (npy->count > UINT64_MAX / 8 / npy->shape[i]) {
            return ssan_fail(err, SSAN_FORMAT, 0, "its shape is larger than any file");
        }
        npy->count *= npy->shape[i];
    }
    return SSAN_OK;
}

/* An order by columns is that by rows where only one dimension has more than one element. */
static bool order_matters(const struct npy *npy)
{
    unsigned wide = 0;
    for (unsigned i = 0; i < npy->dimensions; i++) {
        wide += npy->shape[i] != 1;
    }
    return wide > 1 && npy->count > 0;
}

/* Where the dictionary begins and ends; false: the file is cut or the version is unknown. */
static bool find_dictionary(const unsigned char *bytes, size_t length, struct text *text,
                            uint64_t *data_begin)
{
    if (!npy_is(bytes, length) || length < 10 || bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0) {
        return false;
    }
    const size_t begin = bytes[6] == 1 ? 10 : 12;
    if (length < begin) {
        return false;
    }
    uint64_t size = bytes[8] | (uint64_t)bytes[9] << 8;
    if (begin == 12) {
        size |= (uint64_t)bytes[10] << 16 | (uint64_t)bytes[11] << 24;
    }
    if (size > length - begin || size > NPY_HEADER_MOST) {
        return false;
    }
    *text = (struct text){(const char *)bytes + begin, (const char *)bytes + begin + size};
    *data_begin = begin + size;
    return true;
}

enum ssan_status npy_read(struct npy *npy, const void *bytes, size_t length,
                          const enum ssan_compare_type *wanted, struct ssan_error *err)
{
    struct text text;
    struct header header = {0};
    struct npy found = {0};
    if (!find_dictionary(bytes, length, &text, &found.data_begin) ||
        !take_dictionary(&text, &header, &found)) {
        return ssan_fail(err, SSAN_FORMAT, 0,
                         "its header is none that numpy writes (versions 1 to 3, one array of "
                         "numbers)");
    }
    enum ssan_status status = take_type(&found, header.descr, wanted, err);
    if (status == SSAN_OK) {
        status = count_elements(&found, err);
    }
    if (status == SSAN_OK && header.fortran_order && order_matters(&found)) {
        status = ssan_fail(err, SSAN_FORMAT, 0,
                           "its elements stand in Fortran order, which is not read: save "
                           "numpy.ascontiguousarray(a)");
    }
    if (status == SSAN_OK) {
        *npy = found;
    }
    return status;
}
