/* What code that clang generates for CUDA calls: registration of device code, and launches.
 *
 * Order at start-up, for each translation unit with device code: FatBinary, its functions, its
 * variables, FatBinaryEnd; Unregister at exit. All of it comes twice (register_early.h). A launch
 * is Push, then the kernel's host stub, which calls Pop and cudaLaunchKernel. The wrapper is
 * clang's `{int magic, int version, const void *data, void *unused}`; `data` is our own blob:
 * SSAN_BLOB_MAGIC, the PTX text, a NUL. For the virtual device; programs don't include this. */
#ifndef SSAN_CC_COMPILER_ABI_H
#define SSAN_CC_COMPILER_ABI_H
#pragma GCC system_header

#include "blob_abi.h"
#include "driver_types.h"

#ifdef __cplusplus
extern "C" {
#endif

void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
int __cudaRegisterFunction(void **handle, const char *host_stub, char *device_name,
                           const char *device_name_again, int thread_limit, uint3 *tid, uint3 *bid,
                           dim3 *block_dim, dim3 *grid_dim, int *warp_size);
void __cudaRegisterVar(void **handle, char *host_shadow, char *device_name,
                       const char *device_name_again, int is_extern, size_t size_bytes,
                       int is_constant, int is_global);

/* Returns 0, as the launch is only made then. The _ptsz form is what launches of a translation unit
 * with the per-thread default stream call: stream 0 means cudaStreamPerThread there. */
unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes,
                                         cudaStream_t stream);
unsigned int __cudaPushCallConfiguration_ptsz(dim3 grid, dim3 block, size_t shared_bytes,
                                              cudaStream_t stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes,
                                       void *stream_out);

#ifdef __cplusplus
}
#endif

#endif
