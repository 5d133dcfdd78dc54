/* Text from the device. Kernel output is written by host threads only, at the end of their calls,
 * as a real device flushes its buffer: the executor never waits for a lock of stdio. Lines of ours
 * go past stdio. */
#include "vcuda/output.h"

#include "base/strbuf.h"
#include "base/vec.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct {
    pthread_mutex_t lock;
    struct strbuf kept;
    _Atomic size_t length;
    struct {
        const char **items;
        size_t count, room;
    } told;
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

void output_error(const char *text)
{
    char line[1024];
    int length = snprintf(line, sizeof line, "streamsan: %s\n", text);
    if (length >= (int)sizeof line) {
        length = (int)sizeof line - 1;
        line[length - 1] = '\n';
    }
    /* Nothing can be done when stderr is closed. */
    if (write(STDERR_FILENO, line, (size_t)length) < 0) {
        return;
    }
}

void output_once(const char *name, const char *text)
{
    char line[512];
    bool known = false;
    pthread_mutex_lock(&output.lock);
    for (size_t i = 0; i < output.told.count; i++) {
        known |= strcmp(output.told.items[i], name) == 0;
    }
    if (!known) {
        (void)VEC_PUSH(&output.told, name);
    }
    pthread_mutex_unlock(&output.lock);
    if (!known) {
        snprintf(line, sizeof line, "%s %s", name, text);
        output_error(line);
    }
}

void output_forget(void)
{
    pthread_mutex_init(&output.lock, NULL);
    strbuf_clear(&output.kept);
    atomic_store(&output.length, 0);
}
