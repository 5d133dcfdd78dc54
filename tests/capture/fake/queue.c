/* The device: one thread that carries items out in the order in which they were submitted.
 *
 * Invariant: items 1..done have run, those above have not. Naive model of a GPU: submission order
 * is an order that every program may see. */
#include "capture/fake/fake.h"

#include <stdlib.h>

pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct fake_item *first, **last = &first;
static uint64_t submitted, done, wanted;
static bool is_held, is_started;

static void *device(void *unused)
{
    pthread_mutex_lock(&fake_lock);
    for (;;) {
        while (!first || (is_held && first->number > wanted)) {
            pthread_cond_wait(&changed, &fake_lock);
        }
        struct fake_item *item = first;
        pthread_mutex_unlock(&fake_lock);
        if (item->run) {
            item->run(item);
        }
        pthread_mutex_lock(&fake_lock);
        first = item->next;
        if (!first) {
            last = &first;
        }
        done = item->number;
        free(item);
        pthread_cond_broadcast(&changed);
    }
    return NULL;
}

uint64_t fake_submit(struct fake_stream *stream, const struct fake_item *item)
{
    struct fake_item *copy = malloc(sizeof(*copy));
    *copy = *item;
    copy->next = NULL;
    copy->stream = stream;
    pthread_mutex_lock(&fake_lock);
    if (!is_started) {
        pthread_t thread;
        is_started = !pthread_create(&thread, NULL, device, NULL);
        pthread_detach(thread);
    }
    copy->number = ++submitted;
    stream->last = submitted;
    *last = copy;
    last = &copy->next;
    pthread_cond_broadcast(&changed);
    uint64_t number = submitted;
    pthread_mutex_unlock(&fake_lock);
    return number;
}

void fake_wait(uint64_t number)
{
    pthread_mutex_lock(&fake_lock);
    if (wanted < number) {
        wanted = number;
        pthread_cond_broadcast(&changed);
    }
    while (done < number) {
        pthread_cond_wait(&changed, &fake_lock);
    }
    pthread_mutex_unlock(&fake_lock);
}

bool fake_done(uint64_t number)
{
    pthread_mutex_lock(&fake_lock);
    bool is_done = done >= number;
    pthread_mutex_unlock(&fake_lock);
    return is_done;
}

bool fake_has_copy_to(const void *destination)
{
    bool found = false;
    pthread_mutex_lock(&fake_lock);
    for (const struct fake_item *item = first; item; item = item->next) {
        found |= item->copy.destination == (uintptr_t)destination;
    }
    pthread_mutex_unlock(&fake_lock);
    return found;
}

uint64_t fake_last(void)
{
    pthread_mutex_lock(&fake_lock);
    uint64_t number = submitted;
    pthread_mutex_unlock(&fake_lock);
    return number;
}

static void set_held(bool held)
{
    pthread_mutex_lock(&fake_lock);
    is_held = held;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&fake_lock);
}

void fake_hold(void)
{
    set_held(true);
}

void fake_release(void)
{
    set_held(false);
}
