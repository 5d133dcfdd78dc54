/* One write a line, so that lines of several threads and processes stay whole. What was told once
 * is known by its text; a small lock of our own, a leaf. */
#include "trace/message.h"

#include "base/vec.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct {
    pthread_mutex_t lock;
    struct {
        const char **items;
        size_t count, room;
    } told;
} messages = {.lock = PTHREAD_MUTEX_INITIALIZER};

void message_tell(const char *text)
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

void message_once(const char *name, const char *text)
{
    char line[512];
    bool known = false;
    pthread_mutex_lock(&messages.lock);
    for (size_t i = 0; i < messages.told.count; i++) {
        known |= strcmp(messages.told.items[i], name) == 0;
    }
    if (!known) {
        (void)VEC_PUSH(&messages.told, name);
    }
    pthread_mutex_unlock(&messages.lock);
    if (!known) {
        snprintf(line, sizeof line, "%s %s", name, text);
        message_tell(line);
    }
}

void message_forget(void)
{
    pthread_mutex_init(&messages.lock, NULL);
}
