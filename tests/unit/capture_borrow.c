/* Streams are lent as long as nobody destroys or captures any, and whoever is about to waits. */
#include "capture/borrow.h"

#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static atomic_int steps;

static void *destroy(void *unused)
{
    atomic_store(&steps, 1);
    borrow_forbid();
    atomic_store(&steps, 2);
    borrow_allow();
    return NULL;
}

static void who_destroys_waits(void **state)
{
    pthread_t thread;
    assert_true(borrow_begin());
    assert_true(borrow_begin()); /* by two threads */
    assert_int_equal(pthread_create(&thread, NULL, destroy, NULL), 0);
    while (atomic_load(&steps) == 0 || borrow_begin()) { /* refused as soon as somebody waits */
        if (atomic_load(&steps) != 0) {
            borrow_end();
        }
        sched_yield();
    }
    assert_int_equal(atomic_load(&steps), 1);
    borrow_end();
    assert_false(borrow_begin());
    assert_int_equal(atomic_load(&steps), 1);
    borrow_end();
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(atomic_load(&steps), 2);
    assert_true(borrow_begin());
    borrow_end();
}

static void captures(void **state)
{
    borrow_forbid(); /* the call that begins it */
    assert_false(borrow_begin());
    borrow_capture(true);
    borrow_allow();
    assert_false(borrow_begin());
    borrow_capture(false);
    borrow_capture(false); /* of one whose begin was not seen */
    assert_true(borrow_begin());
    borrow_end();
}

static void forked(void **state)
{
    assert_true(borrow_begin());
    borrow_capture(true);
    borrow_detach();
    borrow_forbid(); /* waits for nobody */
    borrow_allow();
    assert_true(borrow_begin());
    borrow_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(who_destroys_waits),
                                       cmocka_unit_test(captures), cmocka_unit_test(forked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
