/* Text from the device. Kernel output is written by host threads only, at the end of their calls,
 * as a real device flushes its buffer: the executor never waits for a lock of stdio. */
#include "vcuda/output.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "trace/message.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static struct {
    pthread_mutex_t lock;
    struct strbuf kept;
    _Atomic size_t length;
} output = {.lock = PTHREAD_MUTEX_INITIALIZER};

void output_keep(const char *bytes, size_t length)
{
    pthread_mutex_lock(&output.lock);
    strbuf_add(&output.kept, bytes, length);
    atomic_store(&output.length, output.kept.length);
    pthread_mutex_unlock(&output.lock);
}

void output_flush(void)
{
    size_t length;
    char *text;
    if (atomic_load_explicit(&output.length, memory_order_relaxed) == 0) {
        return;
    }
    pthread_mutex_lock(&output.lock);
    length = output.kept.length;
    text = strbuf_take(&output.kept);
    atomic_store(&output.length, 0);
    pthread_mutex_unlock(&output.lock);
    if (text) {
        fwrite(text, 1, length, stdout);
        mem_free(text);
    }
}

void output_forget(void)
{
    pthread_mutex_init(&output.lock, NULL);
    message_forget();
    strbuf_clear(&output.kept);
    atomic_store(&output.length, 0);
}
