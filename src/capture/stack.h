/* Host stacks as small ids; each is told to the trace when it is new. */
#ifndef SSAN_CAPTURE_STACK_H
#define SSAN_CAPTURE_STACK_H

#include "trace/sink.h"

#include <stdbool.h>
#include <stdint.h>

/* Stacks go to `sink` from here on (`module`, `site`, `frame` and `lost` events). False: no memory
 * for the tables; every stack is then 0. Once, before other threads come. */
bool stack_open(struct ssan_sink *sink);

/* The id of the calling thread's host stack, innermost frame first, without the frames of this
 * library and of the driver; 0: none (no sink, no room: told as lost stacks). Any thread, inside
 * any callback; takes no memory of the program and no lock that the program may hold. Keeps errno.
 */
uint32_t stack_site(void);

/* The innermost return addresses of the same stack, at most `most` of them; their number. As above.
 */
uint32_t stack_addresses(uint64_t *addresses, uint32_t most);

/* The id of a site with these frames, which are no host stack: each is a device instruction that
 * may have made an access (observe_sites.h). Any thread. */
uint32_t stack_intern(const uint64_t *frames, uint32_t count);

/* In a forked child: no stacks any more. */
void stack_detach(void);

/* Gives the tables back (tests). No other thread may be inside. */
void stack_close(void);

#endif
