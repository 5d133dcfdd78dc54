// Built with -O2 -fomit-frame-pointer: exception tables beside the unwind tables.
#include "capture_frames.h"

#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct Cleanup {
    frames_take *take;
    void *self;
    uint64_t *result;
    ~Cleanup() { *result = take(self); }
};

__attribute__((noinline)) unsigned throw_deep(unsigned depth)
{
    std::vector<std::string> held(depth + 1, "held");
    if (depth == 0) {
        throw std::runtime_error(held[0]);
    }
    return throw_deep(depth - 1) + static_cast<unsigned>(held.size());
}

__attribute__((noinline)) unsigned throw_through(unsigned depth, frames_take *take, void *self, uint64_t *result)
{
    Cleanup cleanup{take, self, result};
    return throw_deep(depth) + 1;
}

} // namespace

uint64_t frames_catching(unsigned depth, frames_take *take, void *self)
{
    try {
        return throw_deep(depth);
    } catch (const std::exception &) {
        std::vector<int> held(depth + 1);
        uint64_t result = frames_recursive(depth, take, self);
        return held[0] == 0 ? result : 0;
    }
}

uint64_t frames_cleanup(unsigned depth, frames_take *take, void *self)
{
    uint64_t result = 0;
    try {
        return throw_through(depth, take, self, &result);
    } catch (const std::exception &) {
        return result;
    }
}
