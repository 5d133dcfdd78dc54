/* What the virtual device can do, as it tells programs and as it checks them (the figures of
 * compute capability 7.0). */
#ifndef SSAN_VCUDA_LIMITS_H
#define SSAN_VCUDA_LIMITS_H

#define LIMIT_GRID_X          0x7fffffffu
#define LIMIT_GRID_YZ         65535u
#define LIMIT_BLOCK_XY        1024u
#define LIMIT_BLOCK_Z         64u
#define LIMIT_THREADS         1024u
#define LIMIT_SHARED_BYTES    49152u
#define LIMIT_SHARED_OPT_IN   98304u
#define LIMIT_SHARED_PER_SM   98304u
#define LIMIT_REGISTERS       65536u
#define LIMIT_THREADS_PER_SM  2048u
#define LIMIT_BLOCKS_PER_SM   32u
#define LIMIT_MULTIPROCESSORS 8u
#define LIMIT_WARP            32u
#define LIMIT_CONSTANT_BYTES  65536u
#define LIMIT_CLOCK_KHZ       1000000 /* one tick of the virtual clock is a nanosecond */
#define LIMIT_MAJOR           7
#define LIMIT_MINOR           0

#endif
