/* Three numbers under a lock of our own, under which nobody is called. */
#include "capture/borrow.h"

#include "base/elapsed.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>

#define LIMIT_MS  2000u /* a borrower is held up: it may be the caller whom it waits for */
#define MOMENT_MS 20u

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint32_t borrowers, forbidding, captures;
} streams = {.lock = PTHREAD_MUTEX_INITIALIZER};
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_condition(void)
{
    condition_init(&streams.changed);
}

bool borrow_begin(void)
{
    struct timespec until = time_in_ms(MOMENT_MS);
    pthread_once(&once, open_condition);
    pthread_mutex_lock(&streams.lock);
    while (streams.forbidding > 0 && streams.captures == 0 &&
           pthread_cond_timedwait(&streams.changed, &streams.lock, &until) != ETIMEDOUT) {
    }
    bool may = streams.forbidding == 0 && streams.captures == 0;
    streams.borrowers += may;
    pthread_mutex_unlock(&streams.lock);
    return may;
}

void borrow_end(void)
{
    pthread_once(&once, open_condition);
    pthread_mutex_lock(&streams.lock);
    if (--streams.borrowers == 0) {
        pthread_cond_broadcast(&streams.changed);
    }
    pthread_mutex_unlock(&streams.lock);
}

void borrow_forbid(void)
{
    struct timespec until = time_in_ms(LIMIT_MS);
    pthread_once(&once, open_condition);
    pthread_mutex_lock(&streams.lock);
    streams.forbidding++;
    while (streams.borrowers > 0 &&
           pthread_cond_timedwait(&streams.changed, &streams.lock, &until) != ETIMEDOUT) {
    }
    pthread_mutex_unlock(&streams.lock);
}

void borrow_allow(void)
{
    pthread_mutex_lock(&streams.lock);
    if (--streams.forbidding == 0) {
        pthread_cond_broadcast(&streams.changed);
    }
    pthread_mutex_unlock(&streams.lock);
}

void borrow_capture(bool begins)
{
    pthread_mutex_lock(&streams.lock);
    if (begins) {
        streams.captures++;
    } else if (streams.captures > 0) {
        streams.captures--;
    }
    pthread_mutex_unlock(&streams.lock);
}

void borrow_detach(void)
{
    pthread_mutex_init(&streams.lock, NULL);
    open_condition();
    streams.borrowers = streams.forbidding = streams.captures = 0;
}
