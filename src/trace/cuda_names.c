/* Two constant tables, searched from their beginning: names are looked up where a person wrote one
 * or reads one. */
#include "trace/cuda_names.h"

#include "base/similar.h"

#include <stddef.h>
#include <string.h>

enum error_code {
#define CUDA_ERROR(name, value, text) name = value,
#include "ssan/cuda_errors.def"
#undef CUDA_ERROR
};

/* Names stand alone, as similar_word takes them; what belongs to one stands at its place. */
static const char *const error_names[] = {
#define CUDA_ERROR(name, value, text) #name,
#include "ssan/cuda_errors.def"
#undef CUDA_ERROR
};

static const struct {
    const char *text;
    uint32_t code;
} errors[] = {
#define CUDA_ERROR(name, value, text) {text, value},
#include "ssan/cuda_errors.def"
#undef CUDA_ERROR
};

static const uint32_t sticky[] = {
#define CUDA_STICKY(name) name,
#include "ssan/cuda_errors.def"
#undef CUDA_STICKY
};

static const char *const call_names[] = {
#define CUDA_CALL(name, does) #name,
#include "trace/cuda_calls.def"
#undef CUDA_CALL
};

static const enum ssan_call_kind call_kinds[] = {
#define CUDA_CALL(name, does) SSAN_call_kind_##does,
#include "trace/cuda_calls.def"
#undef CUDA_CALL
};

#define ERROR_COUNT  (sizeof errors / sizeof *errors)
#define STICKY_COUNT (sizeof sticky / sizeof *sticky)
#define CALL_COUNT   (sizeof call_names / sizeof *call_names)

/* Of a name; `count`: none. */
static size_t place_of(const char *const *names, size_t count, const char *name)
{
    size_t i = 0;
    while (i < count && strcmp(names[i], name) != 0) {
        i++;
    }
    return i;
}

/* ERROR_COUNT: none. */
static size_t error_of(uint32_t code)
{
    size_t i = 0;
    while (i < ERROR_COUNT && errors[i].code != code) {
        i++;
    }
    return i;
}

const char *cuda_error_name(uint32_t code)
{
    const size_t i = error_of(code);
    return i < ERROR_COUNT ? error_names[i] : NULL;
}

const char *cuda_error_text(uint32_t code)
{
    const size_t i = error_of(code);
    return i < ERROR_COUNT ? errors[i].text : NULL;
}

bool cuda_error_find(const char *name, uint32_t *code)
{
    const size_t i = place_of(error_names, ERROR_COUNT, name);
    if (i < ERROR_COUNT) {
        *code = errors[i].code;
    }
    return i < ERROR_COUNT;
}

const char *cuda_error_similar(const char *name)
{
    return similar_word(name, error_names, ERROR_COUNT);
}

bool cuda_error_is_sticky(uint32_t code)
{
    for (size_t i = 0; i < STICKY_COUNT; i++) {
        if (sticky[i] == code) {
            return true;
        }
    }
    return false;
}

const char *cuda_call_find(const char *name)
{
    const size_t i = place_of(call_names, CALL_COUNT, name);
    return i < CALL_COUNT ? call_names[i] : NULL;
}

const char *cuda_call_similar(const char *name)
{
    return similar_word(name, call_names, CALL_COUNT);
}

enum ssan_call_kind cuda_call_kind(const char *name)
{
    const size_t i = place_of(call_names, CALL_COUNT, name);
    return i < CALL_COUNT ? call_kinds[i] : SSAN_call_kind_OTHER;
}

bool cuda_call_submits(const char *name)
{
    const enum ssan_call_kind kind = cuda_call_kind(name);
    return kind == SSAN_call_kind_LAUNCH || kind == SSAN_call_kind_TRANSFER;
}
