/* A number and the bytes of a record's fields: what is accepted survives being written, and being
 * listed. */
#include "fuzz/same_line.h"

#include "base/mem.h"
#include "trace/record.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect_same_record(const struct ssan_event *event)
{
    struct ssan_event again;
    struct record_fault fault;
    size_t bytes = record_bytes(event);
    unsigned char *record = mem_alloc(bytes);
    if (!record) {
        abort();
    }
    record_write(record, (uint32_t)bytes, event);
    if (!record_read(record + sizeof(struct record_head), bytes - sizeof(struct record_head),
                     (uint32_t)event->kind, &again, &fault) ||
        !event_equal(event, &again)) {
        abort();
    }
    mem_free(record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ssan_event event;
    struct record_fault fault = {0};
    uint32_t kind;
    if (size < sizeof kind || (size - sizeof kind) % 8) {
        return 0;
    }
    memcpy(&kind, data, sizeof kind);
    unsigned char *fields = mem_alloc(size - sizeof kind); /* aligned, as they lie in a file */
    if (!fields) {
        abort();
    }
    memcpy(fields, data + sizeof kind, size - sizeof kind);
    if (record_read(fields, size - sizeof kind, kind, &event, &fault)) {
        expect_same_record(&event);
        expect_same_line(&event);
    } else if (!fault.event || !fault.what) {
        abort();
    }
    mem_free(fields);
    return 0;
}
