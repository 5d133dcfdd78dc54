/* Reports made by hand, for tests of the emitters. All memory is the report's arena; end with
 * report_finish. */
#ifndef SSAN_TESTS_GOLDEN_FIXTURES_H
#define SSAN_TESTS_GOLDEN_FIXTURES_H

#include "core/finding.h"

/* The program of the report's design: scale on 'producer', add on 'consumer', a record nobody waits
 * for. */
void fixture_handover(struct report *report);
/* The host writes a pinned buffer while a copy may still read it; two threads submitted. */
void fixture_host_write(struct report *report);
/* A free while a copy is in flight, third life of its address, and a use after it. */
void fixture_lifetimes(struct report *report);
/* A wait for an event that was never recorded, and work that was pending at the end. */
void fixture_advice(struct report *report);
/* Launches whose errors nobody asks for or somebody late, an error passed over, planned failures.
 */
void fixture_errors(struct report *report);
/* The handover with a witness, others with each reason why there is none, and a diagnosis. */
void fixture_witnesses(struct report *report);
/* Order by a behaviour that no manual promises. */
void fixture_portability(struct report *report);
/* Names of 200 characters everywhere, 40 ranges, a second file. */
void fixture_long_names(struct report *report);
/* No findings, and every loss that a run can have. */
void fixture_losses(struct report *report);

/* Sets the nearest miss of the handover's finding to this kind, with the records and waits it
 * speaks of. */
void fixture_set_nearest(struct report *report, enum nearest_kind kind);

#endif
