/* Streams of the program that we put something into, or wait for, on a thread whose call it is not.
 *
 * A stream lives, and is not captured, while a thread is in a call that uses it; of another
 * thread's streams nobody knows that. So they are borrowed: a call that destroys a stream or begins
 * a capture waits at its entry, where the driver holds no lock yet, until all are back, and while
 * it is under way, or a capture is, none is lent. All at once, not each: it is done seldom. Any
 * thread. */
#ifndef SSAN_CAPTURE_BORROW_H
#define SSAN_CAPTURE_BORROW_H

#include <stdbool.h>

/* True: streams that live are not destroyed, and none is being captured, until borrow_end, which
 * must come soon. False: a capture is under way, or somebody is in the calls of borrow_forbid for
 * longer than a moment. Not inside of a callback in which the driver may hold a lock. */
bool borrow_begin(void);
void borrow_end(void);

/* The calling thread enters a call that destroys streams or begins a capture: waits, for a limited
 * time. */
void borrow_forbid(void);
/* It leaves that call. */
void borrow_allow(void);
/* A capture has begun, has ended: meanwhile, too, none is lent. */
void borrow_capture(bool begins);

/* In a forked child: nobody has borrowed. */
void borrow_detach(void);

#endif
