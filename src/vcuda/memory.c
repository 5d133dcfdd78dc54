/* The arena of device memory and the sorted list of live blocks.
 *
 * Invariant: `blocks` is sorted by address and its blocks are disjoint; free space of a device is
 * what stands in its `space`, and between two blocks at least GUARD bytes belong to nobody, so that
 * small overruns are seen. First fit from the lowest address, so freed addresses come back soon, as
 * with real allocators. New bytes are 0xFF, never zero. Page-locked memory is never unmapped: freed
 * ranges stand in `kept` for later page-locked blocks, so that no other memory gets an address that
 * was page-locked, and late operations find bytes there. Finding is O(log n), allocating O(n) in
 * live blocks. */
#include "vcuda/memory.h"

#include "base/ranges.h"
#include "base/vec.h"
#include "trace/control_abi.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#define ALIGN       UINT64_C(256)
#define GUARD       UINT64_C(512)
#define MOST_BYTES  (UINT64_C(8) << 30)
#define LEAST_BYTES (UINT64_C(64) << 20)
#define PUNCH_BYTES (UINT64_C(1) << 20) /* freed blocks from this size on give their pages back */
#define POISON      0xFF
#define POISON_MOST                                                                                \
    (UINT64_C(64) << 20) /* of a block; what lies behind takes no memory till it is used */
#define DEAD_BLOCKS 256

static struct {
    pthread_mutex_t lock;
    bool started;
    int fd;
    uint64_t begin, end; /* the user's alias */
    unsigned char *executor;
    uint64_t part; /* bytes of a device: [begin + ordinal * part, ... + part) */
    struct ranges space[CONTROL_MOST_DEVICES], kept;
    struct {
        struct memory_block *items;
        size_t count, room;
    } blocks;
    struct memory_block dead[DEAD_BLOCKS]; /* a ring, for messages */
    uint64_t dead_count;
    _Atomic uint64_t epoch;
} memory = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void poison(void *at, uint64_t size)
{
    memset(at, POISON, size < POISON_MOST ? size : POISON_MOST);
}

static uint64_t round_up(uint64_t value, uint64_t align)
{
    return (value + align - 1) & ~(align - 1);
}

static uint64_t limit_bytes(void)
{
    struct sysinfo info;
    uint64_t limit = MOST_BYTES;
    if (sysinfo(&info) == 0) {
        uint64_t half = (uint64_t)info.totalram * info.mem_unit / 2;
        limit = half < limit ? half : limit;
    }
    limit &= ~(PUNCH_BYTES - 1);
    return limit < LEAST_BYTES ? LEAST_BYTES : limit;
}

static bool map_both(uint64_t size)
{
    void *user, *executor;
    if (ftruncate(memory.fd, (off_t)size) != 0) {
        return false;
    }
    user = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (user == MAP_FAILED) {
        return false;
    }
    executor = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memory.fd, 0);
    if (executor == MAP_FAILED) {
        munmap(user, size);
        return false;
    }
    madvise(executor, size, MADV_DONTDUMP);
    memory.begin = (uint64_t)(uintptr_t)user;
    memory.end = memory.begin + size;
    memory.executor = executor;
    return true;
}

/* Between the parts of two devices, and at both ends, lies what belongs to nobody. */
static bool divide(uint32_t devices)
{
    bool ok = true;
    memory.part = ((memory.end - memory.begin) / devices) & ~(PUNCH_BYTES - 1);
    for (uint32_t i = 0; ok && i < devices; i++) {
        uint64_t begin = memory.begin + i * memory.part;
        ok = ranges_add(&memory.space[i], begin + PUNCH_BYTES, begin + memory.part - PUNCH_BYTES);
    }
    return ok;
}

bool memory_start(uint32_t devices)
{
    uint64_t least = LEAST_BYTES * devices;
    pthread_mutex_lock(&memory.lock);
    if (!memory.started) {
        uint64_t size = limit_bytes();
        memory.fd = memfd_create("streamsan device memory", MFD_CLOEXEC);
        for (size = size < least ? least : size; memory.fd >= 0 && size >= least; size /= 2) {
            if (map_both(size)) {
                memory.started = divide(devices);
                break;
            }
        }
    }
    pthread_mutex_unlock(&memory.lock);
    return memory.started;
}

/* Index of the first block that ends behind `address`. */
static size_t index_of(uint64_t address)
{
    size_t low = 0, high = memory.blocks.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (memory.blocks.items[middle].address + memory.blocks.items[middle].size > address) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

static bool insert(const struct memory_block *block)
{
    size_t at = index_of(block->address);
    if (!VEC_RESERVE(&memory.blocks, memory.blocks.count + 1)) {
        return false;
    }
    memmove(&memory.blocks.items[at + 1], &memory.blocks.items[at],
            (memory.blocks.count - at) * sizeof *memory.blocks.items);
    memory.blocks.items[at] = *block;
    memory.blocks.count++;
    atomic_fetch_add_explicit(&memory.epoch, 1, memory_order_relaxed);
    return true;
}

/* First fit; 0: none. */
static uint64_t find_space(const struct ranges *space, uint64_t need, uint64_t align)
{
    for (size_t i = 0; i < space->count; i++) {
        uint64_t at = round_up(space->items[i].begin, align);
        if (at < space->items[i].end && space->items[i].end - at >= need) {
            return at;
        }
    }
    return 0;
}

cudaError_t memory_alloc_device(uint64_t size, uint64_t align, uint32_t ordinal, uint32_t id,
                                struct memory_block *block)
{
    cudaError_t error = cudaErrorMemoryAllocation;
    struct ranges *space = &memory.space[ordinal];
    struct memory_block made = {
        .size = size, .id = id, .ordinal = ordinal, .kind = SSAN_memory_DEVICE};
    uint64_t need = round_up(size, ALIGN) + GUARD;
    if (size == 0 || size > MOST_BYTES) {
        return error;
    }
    align = align < ALIGN ? ALIGN : align;
    pthread_mutex_lock(&memory.lock);
    made.address = find_space(space, need, align);
    if (made.address && ranges_remove(space, made.address, made.address + need)) {
        if (insert(&made)) {
            error = cudaSuccess;
        } else {
            (void)ranges_add(space, made.address, made.address + need);
        }
    }
    pthread_mutex_unlock(&memory.lock);
    if (error == cudaSuccess) {
        poison(memory_at(made.address), size);
        *block = made;
    }
    return error;
}

static uint64_t page_bytes(void)
{
    return (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Whole pages, out of `kept` or new; 0: none. Lock held. */
static uint64_t take_pages(uint64_t need)
{
    uint64_t at = find_space(&memory.kept, need, page_bytes());
    void *made;
    if (at && ranges_remove(&memory.kept, at, at + need)) {
        return at;
    }
    made = mmap(NULL, need, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return made == MAP_FAILED ? 0 : (uint64_t)(uintptr_t)made;
}

cudaError_t memory_alloc_pinned(uint64_t size, unsigned flags, uint32_t ordinal, uint32_t id,
                                struct memory_block *block)
{
    struct memory_block made = {
        .size = size, .id = id, .ordinal = ordinal, .kind = SSAN_memory_PINNED, .flags = flags};
    uint64_t need = round_up(size, page_bytes());
    bool ok;
    if (size == 0 || need < size) {
        return cudaErrorMemoryAllocation;
    }
    pthread_mutex_lock(&memory.lock);
    made.address = take_pages(need);
    ok = made.address && insert(&made);
    if (made.address && !ok) {
        (void)ranges_add(&memory.kept, made.address, made.address + need);
    }
    pthread_mutex_unlock(&memory.lock);
    if (!ok) {
        return cudaErrorMemoryAllocation;
    }
    poison((void *)(uintptr_t)made.address, size);
    *block = made;
    return cudaSuccess;
}

static bool is_mapped(uint64_t address, uint64_t size)
{
    uint64_t page = page_bytes(), begin = address & ~(page - 1);
    uint64_t end = address + size;
    return end > address &&
           msync((void *)(uintptr_t)begin, (size_t)(round_up(end, page) - begin), MS_ASYNC) == 0;
}

cudaError_t memory_register(uint64_t address, uint64_t size, unsigned flags, uint32_t ordinal,
                            uint32_t id, struct memory_block *block)
{
    struct memory_block made = {.address = address,
                                .size = size,
                                .id = id,
                                .ordinal = ordinal,
                                .kind = SSAN_memory_REGISTERED,
                                .flags = flags};
    cudaError_t error = cudaSuccess;
    size_t at;
    if (!address || !size || !is_mapped(address, size) || memory_is_device_address(address)) {
        return cudaErrorInvalidValue;
    }
    pthread_mutex_lock(&memory.lock);
    at = index_of(address);
    if (at < memory.blocks.count && memory.blocks.items[at].address < address + size) {
        error = cudaErrorHostMemoryAlreadyRegistered;
    } else if (!insert(&made)) {
        error = cudaErrorMemoryAllocation;
    }
    pthread_mutex_unlock(&memory.lock);
    if (error == cudaSuccess) {
        *block = made;
    }
    return error;
}

static struct memory_block *find_locked(uint64_t address)
{
    size_t at = index_of(address);
    return at < memory.blocks.count && memory.blocks.items[at].address <= address
               ? &memory.blocks.items[at]
               : NULL;
}

void memory_set_constant(uint64_t address)
{
    pthread_mutex_lock(&memory.lock);
    find_locked(address)->is_constant = true;
    pthread_mutex_unlock(&memory.lock);
}

void memory_set_variable(uint64_t address)
{
    pthread_mutex_lock(&memory.lock);
    find_locked(address)->is_variable = true;
    pthread_mutex_unlock(&memory.lock);
}

bool memory_claim(uint64_t address)
{
    struct memory_block *block;
    bool mine = false;
    pthread_mutex_lock(&memory.lock);
    block = find_locked(address);
    if (block && block->address == address && !block->is_ending) {
        block->is_ending = true;
        mine = true;
    }
    pthread_mutex_unlock(&memory.lock);
    return mine;
}

/* The bytes go, the addresses stay. */
static void keep_pages(const struct memory_block *block)
{
    uint64_t size = round_up(block->size, page_bytes());
    void *at = (void *)(uintptr_t)block->address;
    if (size < PUNCH_BYTES || madvise(at, size, MADV_DONTNEED) != 0) {
        memset(at, POISON, size);
    }
    /* Without memory for the list the range is lost until the end, nothing worse. */
    (void)ranges_add(&memory.kept, block->address, block->address + size);
}

static void give_back(const struct memory_block *block)
{
    uint64_t need = round_up(block->size, ALIGN) + GUARD;
    if (block->kind == SSAN_memory_PINNED) {
        keep_pages(block);
    } else if (block->kind == SSAN_memory_DEVICE) {
        if (block->size >= PUNCH_BYTES) {
            (void)fallocate(memory.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                            (off_t)(block->address - memory.begin), (off_t)block->size);
        }
        /* Without memory for the list the space is lost until the end, nothing worse. */
        (void)ranges_add(&memory.space[block->ordinal], block->address, block->address + need);
    }
}

void memory_release(uint64_t address)
{
    struct memory_block *block;
    pthread_mutex_lock(&memory.lock);
    block = find_locked(address);
    if (block && block->address == address) {
        size_t at = (size_t)(block - memory.blocks.items);
        memory.dead[memory.dead_count++ % DEAD_BLOCKS] = *block;
        give_back(block);
        memmove(block, block + 1, (memory.blocks.count - at - 1) * sizeof *block);
        memory.blocks.count--;
        atomic_fetch_add_explicit(&memory.epoch, 1, memory_order_relaxed);
    }
    pthread_mutex_unlock(&memory.lock);
}

bool memory_find(uint64_t address, struct memory_block *block)
{
    struct memory_block *found;
    pthread_mutex_lock(&memory.lock);
    found = find_locked(address);
    if (found) {
        *block = *found;
    }
    pthread_mutex_unlock(&memory.lock);
    return found != NULL;
}

bool memory_next(uint64_t address, struct memory_block *block)
{
    size_t at;
    bool found;
    pthread_mutex_lock(&memory.lock);
    at = index_of(address);
    found = at < memory.blocks.count;
    if (found) {
        *block = memory.blocks.items[at];
    }
    pthread_mutex_unlock(&memory.lock);
    return found;
}

bool memory_try_find(uint64_t address, struct memory_block *block)
{
    struct memory_block *found;
    if (pthread_mutex_trylock(&memory.lock) != 0) {
        return false;
    }
    found = find_locked(address);
    if (found) {
        *block = *found;
    }
    pthread_mutex_unlock(&memory.lock);
    return found != NULL;
}

bool memory_find_dead(uint64_t address, struct memory_block *block)
{
    bool found = false;
    pthread_mutex_lock(&memory.lock);
    for (uint64_t i = memory.dead_count; !found && i > 0 && memory.dead_count - i < DEAD_BLOCKS;
         i--) {
        const struct memory_block *dead = &memory.dead[(i - 1) % DEAD_BLOCKS];
        if (address >= dead->address && address - dead->address < dead->size) {
            *block = *dead;
            found = true;
        }
    }
    pthread_mutex_unlock(&memory.lock);
    return found;
}

bool memory_find_before(uint64_t address, struct memory_block *block)
{
    size_t at;
    pthread_mutex_lock(&memory.lock);
    at = index_of(address);
    if (at > 0) {
        *block = memory.blocks.items[at - 1];
    }
    pthread_mutex_unlock(&memory.lock);
    return at > 0;
}

bool memory_is_freed(uint64_t address, uint64_t size)
{
    uint64_t end = address + size;
    size_t at;
    bool freed = false;
    if (end <= address) {
        return false;
    }
    pthread_mutex_lock(&memory.lock);
    at = index_of(address);
    if (at == memory.blocks.count || memory.blocks.items[at].address >= end) {
        freed = ranges_contains(&memory.kept, address, end) ||
                (address >= memory.begin && end <= memory.end);
    }
    pthread_mutex_unlock(&memory.lock);
    return freed;
}

void memory_renew(uint64_t address, uint32_t id)
{
    pthread_mutex_lock(&memory.lock);
    find_locked(address)->id = id;
    pthread_mutex_unlock(&memory.lock);
}

bool memory_is_device_address(uint64_t address)
{
    return address >= memory.begin && address < memory.end;
}

void *memory_at(uint64_t address)
{
    return memory_is_device_address(address) ? memory.executor + (address - memory.begin)
                                             : (void *)(uintptr_t)address;
}

int64_t memory_delta(void)
{
    return (int64_t)((uint64_t)(uintptr_t)memory.executor - memory.begin);
}

uint64_t memory_epoch(void)
{
    return atomic_load_explicit(&memory.epoch, memory_order_relaxed);
}

void memory_raise_epoch(void)
{
    atomic_fetch_add_explicit(&memory.epoch, 1, memory_order_relaxed);
}

void memory_totals(uint32_t ordinal, uint64_t *free_bytes, uint64_t *total_bytes)
{
    pthread_mutex_lock(&memory.lock);
    *total_bytes = memory.part;
    *free_bytes = ranges_bytes(&memory.space[ordinal]);
    pthread_mutex_unlock(&memory.lock);
}

void memory_forget(void)
{
    pthread_mutex_init(&memory.lock, NULL);
}
