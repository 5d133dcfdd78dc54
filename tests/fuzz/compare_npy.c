/* Any bytes as a .npy file: refused with a sentence, or a header whose claims fit what is compared,
 * the same whether a type is wanted or not. */
#include "compare/npy.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool so)
{
    if (!so) {
        abort();
    }
}

static void check_claims(const struct npy *npy, size_t size)
{
    uint64_t count = 1;
    expect(npy->data_begin >= 10 && npy->data_begin <= size);
    expect(npy->dimensions <= NPY_DIMENSIONS_MOST && ssan_compare_size(npy->type) > 0);
    for (unsigned i = 0; i < npy->dimensions; i++) {
        count *= npy->shape[i];
    }
    expect(count == npy->count && npy->count <= UINT64_MAX / 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct npy npy = {0}, wanted = {0};
    struct ssan_error err = {0};
    const enum ssan_status status = npy_read(&npy, data, size, NULL, &err);
    if (status == SSAN_OK) {
        check_claims(&npy, size);
        expect(npy_is(data, size));
        expect(npy_read(&wanted, data, size, &npy.type, &err) == SSAN_OK);
        expect(memcmp(&npy, &wanted, sizeof npy) == 0);
    } else {
        expect(status == SSAN_FORMAT && err.text[0] && npy.data_begin == 0);
    }
    const enum ssan_compare_type bfloat = SSAN_COMPARE_BFLOAT16;
    if (npy_read(&wanted, data, size, &bfloat, &err) == SSAN_OK) {
        expect(wanted.type == bfloat);
        check_claims(&wanted, size);
    }
    return 0;
}
