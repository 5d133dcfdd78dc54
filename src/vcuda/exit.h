/* The end of the process: what pends runs for observation, the trace gets its last event. */
#ifndef SSAN_VCUDA_EXIT_H
#define SSAN_VCUDA_EXIT_H

/* Registers the handler; first of all, so that it runs last. */
void exit_prepare(void);

#endif
