/* Kernels whose accesses are known byte by byte, for the sets that a run observes.
 *
 *   access_sets FILE [MOST]
 *
 * Each kernel is a body for one thread, written once: on the device it accesses memory by instructions of the width that it
 * names, on the host the same body marks bytes. Every kernel is launched with few threads and with many (pages and windows of
 * patch_abi.h), some more than once. FILE gets, in the order of the launches, `launch NAME` and for it the intervals
 * `read|write|atomic BEGIN END`, in decimal, merged and sorted; `may BEGIN END`: what can't be seen is told as such.
 * Prints how many launches there were, and ends with 2 where a result is wrong. MOST: threads of a launch. With
 * ACCESS_SETS_PLAIN defined, nothing that only GPUs from 9.0 on have. */
#ifndef ACCESS_SETS_PLAIN
#include <cuda.h>
#endif
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define MUST(call) must(call, #call)
static void must(cudaError_t result, const char *what)
{
    if (result != cudaSuccess) {
        std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(result));
        std::exit(1);
    }
}

enum Kind { READ, WRITE, ATOMIC, KINDS };

/* -- the host's memory: marks -------------------------------------------------------------------*/

struct Buffer {
    char *base;
    size_t bytes;
    std::vector<bool> marks[KINDS];
    size_t begin[KINDS], end[KINDS]; /* nothing is marked outside */
};

static std::vector<Buffer> buffers;

static void mark(Kind kind, const void *address, size_t bytes)
{
    const char *at = (const char *)address;
    for (Buffer &buffer : buffers) {
        if (at >= buffer.base && at + bytes <= buffer.base + buffer.bytes) {
            const size_t begin = (size_t)(at - buffer.base), end = begin + bytes;
            for (size_t i = begin; i < end; i++) {
                buffer.marks[kind][i] = true;
            }
            buffer.begin[kind] = begin < buffer.begin[kind] ? begin : buffer.begin[kind];
            buffer.end[kind] = end > buffer.end[kind] ? end : buffer.end[kind];
            return;
        }
    }
    std::fprintf(stderr, "an access of no buffer\n");
    std::exit(1);
}

struct Host {
    void read(const void *p, int bytes) const { mark(READ, p, (size_t)bytes); }
    void write(void *p, int bytes) const { mark(WRITE, p, (size_t)bytes); }
    void reduce(uint32_t *p) const { mark(ATOMIC, p, 4); }
    void reduce_float(float *p) const { mark(ATOMIC, p, 4); }
    void add64(unsigned long long *p) const { mark(ATOMIC, p, 8); }
    void swap(uint32_t *p) const { mark(ATOMIC, p, 4); }
    void async(const void *p, int bytes) const { mark(READ, p, (size_t)bytes); }
    void *pointer(void *const *p) const
    {
        mark(READ, p, sizeof *p);
        return nullptr; /* the caller knows what stands there */
    }
    static constexpr bool is_host = true;
};

/* -- the device's -------------------------------------------------------------------------------*/

struct Device {
    /* What was loaded is used, without a consequence: a load whose value nobody needs is left out by the assembler. */
    static __device__ void use(unsigned value)
    {
#ifndef ACCESS_SETS_PLAIN
        asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 77; @p pmevent 1; }" ::"r"(value));
#endif
        (void)value;
    }

    __device__ void read(const void *p, int bytes) const
    {
        unsigned a = 0, b = 0, c = 0, d = 0;
        switch (bytes) {
        case 1: asm volatile("ld.global.u8 %0, [%1];" : "=r"(a) : "l"(p)); break;
        case 2: asm volatile("{ .reg .u16 t; ld.global.u16 t, [%1]; cvt.u32.u16 %0, t; }" : "=r"(a) : "l"(p)); break;
        case 4: asm volatile("ld.global.u32 %0, [%1];" : "=r"(a) : "l"(p)); break;
        case 8: asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "l"(p)); break;
        default: asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(p));
        }
        use(a), use(b), use(c), use(d);
    }
    __device__ void write(void *p, int bytes) const
    {
        const unsigned v = 7;
        switch (bytes) {
        case 1: asm volatile("st.global.u8 [%0], %1;" ::"l"(p), "r"(v)); break;
        case 2: asm volatile("st.global.u16 [%0], %1;" ::"l"(p), "h"((unsigned short)v)); break;
        case 4: asm volatile("st.global.u32 [%0], %1;" ::"l"(p), "r"(v)); break;
        case 8: asm volatile("st.global.v2.u32 [%0], {%1, %1};" ::"l"(p), "r"(v)); break;
        default: asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(p), "r"(v));
        }
    }
    __device__ void reduce(uint32_t *p) const { asm volatile("red.global.add.u32 [%0], 1;" ::"l"(p)); }
    __device__ void reduce_float(float *p) const { asm volatile("red.global.add.f32 [%0], 0f3f800000;" ::"l"(p)); }
    __device__ void add64(unsigned long long *p) const
    {
        unsigned long long old;
        asm volatile("atom.global.add.u64 %0, [%1], 1;" : "=l"(old) : "l"(p));
    }
    __device__ void swap(uint32_t *p) const
    {
        unsigned old;
        asm volatile("atom.global.cas.b32 %0, [%1], 0, 7;" : "=r"(old) : "l"(p));
    }
    __device__ void async(const void *p, int bytes) const
    {
#if __CUDA_ARCH__ >= 800
        __shared__ __align__(16) char room[1024 * 16];
        const unsigned to = (unsigned)__cvta_generic_to_shared(room + 16 * threadIdx.x);
        if (bytes == 4) {
            asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(p));
        } else {
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(p));
        }
        asm volatile("cp.async.wait_all;" ::: "memory");
#else
        read(p, bytes);
#endif
    }
    __device__ void *pointer(void *const *p) const
    {
        unsigned long long value;
        asm volatile("ld.global.u64 %0, [%1];" : "=l"(value) : "l"(p));
        return (void *)value;
    }
    static constexpr bool is_host = false;
};

/* What a body gets: three buffers, and how many elements there are. */
struct Args {
    char *a, *b, *c;
    uint64_t n;
};

#define BODY template <typename M> __host__ __device__ static void run(const M &m, const Args &s, uint64_t i)

struct bytes_all { BODY { m.read(s.a + i, 1); m.write(s.b + i, 1); } };
struct bytes_apart { BODY { m.read(s.a + 3 * i, 1); m.write(s.b + 2 * i + 1, 1); } };
struct halves { BODY { m.read(s.a + 2 * i, 2); m.write(s.b + 4 * i, 2); } };
struct words { BODY { m.read(s.a + 4 * i, 4); m.write(s.b + 4 * i, 4); } };
struct doubles { BODY { m.read(s.a + 8 * i, 8); m.write(s.b + 8 * i, 8); } };
struct float4s { BODY { m.read(s.a + 16 * i, 16); m.write(s.b + 16 * i, 16); } };
struct mixed_widths { BODY { m.read(s.a + 16 * i, 1); m.read(s.a + 16 * i + 4, 4); m.write(s.a + 16 * i + 8, 8); m.write(s.a + 16 * i + 2, 2); } };
struct strided { BODY { m.read(s.a + 20 * i, 4); m.write(s.b + 28 * i, 4); } };
struct reversed { BODY { m.read(s.a + 4 * (s.n - 1 - i), 4); } };
struct unaligned_run { BODY { m.read(s.a + 28 + 4 * i, 4); m.write(s.b + 2 + 2 * i, 2); } };
struct divergent { BODY { if (i % 3 == 0) { m.read(s.a + 4 * i, 4); } else if (i % 5 == 1) { m.write(s.b + 8 * i, 8); } } };
struct early_exit { BODY { if (i >= s.n / 2 + 5) { return; } m.read(s.a + 4 * i, 4); if (i % 32 > 7) { return; } m.write(s.b + 4 * i, 4); } };
struct loops { BODY { for (uint64_t k = 0; k < i % 7; k++) { m.read(s.a + 4 * (8 * i + k), 4); } } };
struct broadcast { BODY { m.read(s.a + 64, 4); m.read(s.a + 512 + i / 64 * 4, 4); m.write(s.b + 4 * i, 4); } };
struct reductions { BODY { m.reduce((uint32_t *)s.a + i / 9); m.reduce_float((float *)s.b + i % 77); } };
struct atomics { BODY { m.add64((unsigned long long *)s.a + i % 1000); m.swap((uint32_t *)s.b + 3 * i); m.read(s.b + 12 * i + 4, 4); } };
struct copies { BODY { m.async(s.a + 16 * i, 16); m.async(s.b + 8 * i, 4); m.write(s.c + 4 * i, 4); } };
struct one_instruction { BODY { m.read((i & 1 ? s.a : s.b) + 4 * i, 4); m.write(i % 3 ? s.c + 4 * i : s.b + (UINT64_C(48) << 20) + 4 * i, 4); } };
struct far_behind { BODY { m.read(s.a + 4 * i, 4); m.write(s.a + (UINT64_C(40) << 20) + 64 * i, 4); } };
struct before_operand { BODY { m.read(s.a - 4096 + 4 * i, 4); } };
struct at_the_end { BODY { m.write(s.c + (UINT64_C(64) << 20) - 4 * (i + 1), 4); m.read(s.c + (UINT64_C(64) << 20) - 1 - i % 5, 1); } };

static __host__ __device__ uint64_t mix(uint64_t h)
{
    h = (h ^ (h >> 16)) * 0x7feb352du & 0xffffffffu;
    h = (h ^ (h >> 15)) * 0x846ca68bu & 0xffffffffu;
    return h ^ (h >> 16);
}
struct gather { BODY { m.read(s.a + mix(i) % (UINT64_C(4) << 20) * 4, 4); m.write(s.b + mix(i + 7) % (UINT64_C(1) << 20) * 2, 2); } };
struct nothing { BODY { } };

/* A table of pointers that no parameter points behind: s.a holds the addresses of s.b and s.c. */
struct by_table {
    template <typename M> __host__ __device__ static void run(const M &m, const Args &s, uint64_t i)
    {
        char *to = (char *)m.pointer((void *const *)s.a + i % 2);
        to = M::is_host ? (i % 2 ? s.c : s.b) : to;
        m.write(to + 4 * i, 4);
    }
};
/* On the device its arguments hold the table alone. */
template <typename Body> static Args device_args(const Args &args) { return args; }
template <> Args device_args<by_table>(const Args &args) { return {args.a, nullptr, nullptr, args.n}; }

template <typename Body> __global__ void kernel(Args args)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < args.n) {
        Body::run(Device(), args, i);
    }
}

/* Threads that go through all of it, as many as the device holds. */
template <typename Body> __global__ void striding(Args args)
{
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < args.n; i += (uint64_t)gridDim.x * blockDim.x) {
        Body::run(Device(), args, i);
    }
}

/* -- what a warp can't write as a body ------------------------------------------------------------*/

#ifndef ACCESS_SETS_PLAIN
#if __CUDA_ARCH__ >= 900
/* A barrier in shared memory, at `bar`, that 4096 bytes are to reach. */
static __device__ __forceinline__ void barrier_open(unsigned bar)
{
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bar));
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 4096;" ::"r"(bar));
}

/* Until they have. */
static __device__ __forceinline__ void barrier_wait(unsigned bar)
{
    unsigned done = 0;
    while (!done) {
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(bar));
    }
}
#endif

/* Bulk copies: 4096 bytes a block in, 1024 bytes out. */
__global__ void bulk(Args args)
{
#if __CUDA_ARCH__ >= 900
    __shared__ __align__(128) char room[4096];
    __shared__ __align__(8) uint64_t barrier;
    const unsigned bar = (unsigned)__cvta_generic_to_shared(&barrier), to = (unsigned)__cvta_generic_to_shared(room);
    if (threadIdx.x == 0) {
        barrier_open(bar);
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 4096, [%2];" ::"r"(to),
                     "l"(args.a + blockIdx.x * 8192), "r"(bar)
                     : "memory");
        barrier_wait(bar);
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024;" ::"l"(args.b + blockIdx.x * 2048), "r"(to) : "memory");
        asm volatile("cp.async.bulk.commit_group;");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
#endif
}

/* A tensor-map copy, of which no patch tells: 32 x 32 floats. */
__global__ void tensor(const __grid_constant__ CUtensorMap map, float *out)
{
#if __CUDA_ARCH__ >= 900
    __shared__ __align__(128) float room[32 * 32];
    __shared__ __align__(8) uint64_t barrier;
    const unsigned bar = (unsigned)__cvta_generic_to_shared(&barrier), to = (unsigned)__cvta_generic_to_shared(room);
    if (threadIdx.x == 0) {
        barrier_open(bar);
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
                     "l"(&map), "r"(0), "r"(0), "r"(bar)
                     : "memory");
        barrier_wait(bar);
        asm volatile("st.global.f32 [%0], %1;" ::"l"(out), "f"(room[5]));
    }
#endif
}

#endif

/* -- launches -------------------------------------------------------------------------------------*/

static FILE *file;
static unsigned launches;
static uint64_t most = UINT64_MAX;

static void tell(const char *name)
{
    static const char *const words[KINDS] = {"read", "write", "atomic"};
    std::fprintf(file, "launch %s\n", name);
    launches++;
    for (int kind = 0; kind < KINDS; kind++) {
        for (Buffer &buffer : buffers) {
            std::vector<bool> &marks = buffer.marks[kind];
            const size_t all = buffer.end[kind];
            for (size_t at = buffer.begin[kind]; at < all;) {
                if (!marks[at]) {
                    at++;
                    continue;
                }
                size_t begin = at;
                while (at < all && marks[at]) {
                    marks[at++] = false;
                }
                std::fprintf(file, "%s %llu %llu\n", words[kind], (unsigned long long)(uintptr_t)(buffer.base + begin),
                             (unsigned long long)(uintptr_t)(buffer.base + at));
            }
            buffer.begin[kind] = buffer.bytes;
            buffer.end[kind] = 0;
        }
    }
}

template <typename Body> static void both(const char *name, Args args, uint64_t n, unsigned block, cudaStream_t stream = 0)
{
    n = n < most ? n : most;
    args.n = n;
    kernel<Body><<<(unsigned)((n + block - 1) / block), block, 0, stream>>>(device_args<Body>(args));
    MUST(cudaGetLastError());
    for (uint64_t i = 0; i < n; i++) {
        Body::run(Host(), args, i);
    }
    tell(name);
}

/* Few threads, and enough for windows; a block that is no multiple of a warp, too. */
template <typename Body> static void sizes(const char *name, const Args &args)
{
    both<Body>(name, args, 777, 96);
    both<Body>(name, args, 100000, 256);
    both<Body>(name, args, 65536 + 17, 40);
}
#define SIZES(body) sizes<body>(#body, args)

#ifndef ACCESS_SETS_PLAIN
static void bulk_copies(const Args &args)
{
    for (unsigned blocks : {3u, 2000u}) {
        bulk<<<blocks, 32>>>(args);
        MUST(cudaGetLastError());
        for (unsigned i = 0; i < blocks; i++) {
            mark(READ, args.a + i * 8192, 4096);
            mark(WRITE, args.b + i * 2048, 1024);
        }
        tell("bulk");
    }
}

static void tensor_map(const Args &args)
{
    void *entry = nullptr;
    cudaDriverEntryPointQueryResult found;
    MUST(cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &entry, cudaEnableDefault, &found));
    CUtensorMap map;
    const cuuint64_t dims[2] = {1024, 1024}, strides[1] = {4096};
    const cuuint32_t box[2] = {32, 32}, steps[2] = {1, 1};
    auto encode = (decltype(&cuTensorMapEncodeTiled))entry;
    if (!encode || encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, args.a, dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                          CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS) {
        std::fprintf(stderr, "no tensor map\n");
        std::exit(1);
    }
    tensor<<<1, 32>>>(map, (float *)args.b);
    MUST(cudaGetLastError());
    mark(WRITE, args.b, 4);
    tell("tensor");
    for (const char *operand : {args.a, args.b}) { /* each address in the parameters, up to the end of its block */
        std::fprintf(file, "may %llu %llu\n", (unsigned long long)(uintptr_t)operand, (unsigned long long)(uintptr_t)(operand + (64 << 20)));
    }
}

#endif

static char *add_buffer(size_t bytes)
{
    Buffer buffer;
    MUST(cudaMalloc(&buffer.base, bytes));
    MUST(cudaMemset(buffer.base, 0, bytes));
    buffer.bytes = bytes;
    for (int kind = 0; kind < KINDS; kind++) {
        buffer.marks[kind].assign(bytes, false);
        buffer.begin[kind] = bytes;
        buffer.end[kind] = 0;
    }
    buffers.push_back(buffer);
    return buffers.back().base;
}

int main(int argc, char **argv)
{
    file = argc > 1 ? std::fopen(argv[1], "w") : nullptr;
    if (!file) {
        std::fprintf(stderr, "usage: access_sets FILE [MOST]\n");
        return 1;
    }
    most = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : most;
    const size_t size = 64 << 20;
    Args args = {add_buffer(size), add_buffer(size), add_buffer(size), 0};
    MUST(cudaDeviceSynchronize());

    SIZES(bytes_all);
    SIZES(bytes_apart);
    SIZES(halves);
    SIZES(words);
    SIZES(doubles);
    SIZES(float4s);
    SIZES(mixed_widths);
    SIZES(strided);
    SIZES(reversed);
    SIZES(unaligned_run);
    SIZES(divergent);
    SIZES(early_exit);
    SIZES(loops);
    SIZES(broadcast);
    SIZES(reductions);
    SIZES(atomics);
    SIZES(copies);
    SIZES(one_instruction);
    SIZES(at_the_end);
    SIZES(gather);
    SIZES(nothing);
    for (int i = 0; i < 3; i++) { /* the first is beyond its windows; later ones have larger ones */
        SIZES(far_behind);
        MUST(cudaDeviceSynchronize());
    }
    Args inside = args;
    inside.a += 1 << 20;
    sizes<before_operand>("before_operand", inside);

    char *table[2] = {args.b, args.c};
    MUST(cudaMemcpy(args.a, table, sizeof table, cudaMemcpyHostToDevice));
    SIZES(by_table);

    both<words>("words", args, 1000000 * 8, 8); /* a million blocks */
    for (int i = 0; i < 2; i++) {
        Args all = args;
        all.n = size / 4 < most ? size / 4 : most;
        striding<words><<<264, 256>>>(all);
        MUST(cudaGetLastError());
        for (uint64_t k = 0; k < all.n; k++) {
            words::run(Host(), all, k);
        }
        tell("striding");
        MUST(cudaDeviceSynchronize());
    }
    cudaStream_t streams[2]; /* in flight at once, each with its own half */
    for (int i = 0; i < 2; i++) {
        MUST(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
    }
    for (int i = 0; i < 8; i++) {
        Args half = args;
        half.a += (i % 2) * (size / 2);
        half.b += (i % 2) * (size / 2);
        both<halves>("halves", half, 200000 + 1000 * (uint64_t)i, 256, streams[i % 2]);
    }
    MUST(cudaDeviceSynchronize());
#ifndef ACCESS_SETS_PLAIN
    int major = 0;
    MUST(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    if (major >= 9) {
        bulk_copies(args);
        tensor_map(args);
    }
#endif
    MUST(cudaDeviceSynchronize());
    std::fclose(file);

    std::vector<unsigned char> got(size);
    MUST(cudaMemcpy(got.data(), args.c, size, cudaMemcpyDeviceToHost));
    std::printf("%u launches\n", launches);
    return got[0] == 7 && got[4] == 7 && got[size - 4] == 7 ? 0 : 2;
}
