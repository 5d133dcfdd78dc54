/* A program on the fake driver: scenarios by name, each a short CUDA program whose trace is known.
 */
#ifndef SSAN_CAPTURE_PROGRAM_PROGRAM_H
#define SSAN_CAPTURE_PROGRAM_PROGRAM_H

#include "capture/fake/cuda.h"

/* Rows of scenarios.def: SCENARIO(name), a function scenario_<name> that returns the exit code. */
#define SCENARIO(name) int scenario_##name(void);
#include "capture/program/scenarios.def"
#undef SCENARIO

extern const struct fake_kernel kernel_scale;   /* scale(float *, int): reads and writes 32 */
extern const struct fake_kernel kernel_add;     /* ns::add<int>(int *, int *): atomics, reads */
extern const struct fake_kernel kernel_bytes;   /* bytes(char *): writes every second of 64 */
extern const struct fake_kernel kernel_tensor;  /* tensor(float *, float *): unseen reads */
extern const struct fake_kernel kernel_waiting; /* waiting(float *): as scale, waits first */

/* Runs a scenario; its exit code, 2 when there is none of this name. */
int program_run(const char *scenario);
/* Launches one block of 32. */
cudaError_t launch(const struct fake_kernel *kernel, void *first, void *second,
                   cudaStream_t stream);

/* From here on the calling thread is inside of malloc. */
void forbid_malloc(void);

/* Runs a thread to its end. */
void run_thread(void *(*function)(void *));

#endif
