/* The parts that a run on a GPU needs, and where they are: the injected library of ours, NVIDIA's
 * Sanitizer library and the driver.
 *
 * Files are looked for and read; nothing is loaded, and no CUDA call is made in this process. One
 * thread. */
#ifndef SSAN_CLI_GPU_H
#define SSAN_CLI_GPU_H

#include "base/status.h"
#include "base/strbuf.h"

#include <stdbool.h>

#define GPU_PATH_ROOM 4096

#define GPU_SANITIZER_LIBRARY "libsanitizer-public.so"
#define GPU_SANITIZER_ENV     "STREAMSAN_SANITIZER" /* names the library, to us and to the target */

/* The oldest that works: CUDA 12.4, which the drivers 550 brought. */
#define GPU_LEAST_TOOLKIT "12.4"
#define GPU_LEAST_DRIVER  550

struct gpu_parts {
    char capture[GPU_PATH_ROOM];   /* our library */
    char sanitizer[GPU_PATH_ROOM]; /* NVIDIA's, absolute */
};

/* Whether this machine has a GPU of NVIDIA's that programs can use. */
bool gpu_is_there(void);

/* Fills `parts`. SSAN_MISSING: the text names what is missing or too old, and what to install. */
enum ssan_status gpu_find(struct gpu_parts *parts, struct ssan_error *err);

/* For one part each; SSAN_MISSING as gpu_find. */
enum ssan_status gpu_find_capture(char path[GPU_PATH_ROOM], struct ssan_error *err);
enum ssan_status gpu_find_sanitizer(char path[GPU_PATH_ROOM], struct ssan_error *err);
/* Whether the device code that observes accesses is there; `path` is where it is looked for. */
bool gpu_find_patches(char path[GPU_PATH_ROOM]);
/* The same for the device code that holds kernels (--gate). */
bool gpu_find_gate(char path[GPU_PATH_ROOM]);
/* SSAN_MISSING when the driver is too old. One that can't be told is taken; `version` is then "".
 */
enum ssan_status gpu_check_driver(char version[64], struct ssan_error *err);
/* Appends the models of all GPUs: "NVIDIA H200, NVIDIA H200"; nothing where they can't be told. */
void gpu_models(struct strbuf *out);

#endif
