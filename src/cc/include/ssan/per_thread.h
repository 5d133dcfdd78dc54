/* Renames the calls of a translation unit whose default stream is the per-thread one; the list is
 * per_thread.def (a macro can't define macros; a test compares the two). Included by
 * cuda_runtime_api.h only. */
#ifndef SSAN_CC_PER_THREAD_H
#define SSAN_CC_PER_THREAD_H
#pragma GCC system_header

#define cudaMemcpy                          cudaMemcpy_ptds
#define cudaMemcpyToSymbol                  cudaMemcpyToSymbol_ptds
#define cudaMemcpyFromSymbol                cudaMemcpyFromSymbol_ptds
#define cudaMemcpy2D                        cudaMemcpy2D_ptds
#define cudaMemset                          cudaMemset_ptds
#define cudaMemset2D                        cudaMemset2D_ptds
#define cudaMemcpy3D                        cudaMemcpy3D_ptds
#define cudaMemset3D                        cudaMemset3D_ptds
#define cudaMemcpyAsync                     cudaMemcpyAsync_ptsz
#define cudaMemcpyToSymbolAsync             cudaMemcpyToSymbolAsync_ptsz
#define cudaMemcpyFromSymbolAsync           cudaMemcpyFromSymbolAsync_ptsz
#define cudaMemcpy2DAsync                   cudaMemcpy2DAsync_ptsz
#define cudaMemcpy3DAsync                   cudaMemcpy3DAsync_ptsz
#define cudaMemsetAsync                     cudaMemsetAsync_ptsz
#define cudaMemset2DAsync                   cudaMemset2DAsync_ptsz
#define cudaMemset3DAsync                   cudaMemset3DAsync_ptsz
#define cudaStreamGetPriority               cudaStreamGetPriority_ptsz
#define cudaStreamGetFlags                  cudaStreamGetFlags_ptsz
#define cudaStreamGetId                     cudaStreamGetId_ptsz
#define cudaEventRecord                     cudaEventRecord_ptsz
#define cudaEventRecordWithFlags            cudaEventRecordWithFlags_ptsz
#define cudaStreamWaitEvent                 cudaStreamWaitEvent_ptsz
#define cudaStreamAddCallback               cudaStreamAddCallback_ptsz
#define cudaStreamAttachMemAsync            cudaStreamAttachMemAsync_ptsz
#define cudaStreamSynchronize               cudaStreamSynchronize_ptsz
#define cudaStreamQuery                     cudaStreamQuery_ptsz
#define cudaStreamBeginCapture              cudaStreamBeginCapture_ptsz
#define cudaStreamEndCapture                cudaStreamEndCapture_ptsz
#define cudaStreamIsCapturing               cudaStreamIsCapturing_ptsz
#define cudaStreamGetCaptureInfo            cudaStreamGetCaptureInfo_ptsz
#define cudaStreamUpdateCaptureDependencies cudaStreamUpdateCaptureDependencies_ptsz
#define cudaLaunchKernel                    cudaLaunchKernel_ptsz
#define cudaLaunchKernelExC                 cudaLaunchKernelExC_ptsz
#define cudaLaunchCooperativeKernel         cudaLaunchCooperativeKernel_ptsz
#define cudaLaunchHostFunc                  cudaLaunchHostFunc_ptsz
#define cudaMemPrefetchAsync                cudaMemPrefetchAsync_ptsz
#define cudaGraphUpload                     cudaGraphUpload_ptsz
#define cudaGraphLaunch                     cudaGraphLaunch_ptsz
#define cudaMallocAsync                     cudaMallocAsync_ptsz
#define cudaFreeAsync                       cudaFreeAsync_ptsz
#define cudaMallocFromPoolAsync             cudaMallocFromPoolAsync_ptsz

#endif
