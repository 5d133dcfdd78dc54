/* Which build of the lane loops runs here. */
#include "ptx/lane.h"

#include <stddef.h>
#include <string.h>

extern const struct lane_isa base_lanes;
#ifdef PTX_HAS_AVX2
extern const struct lane_isa avx2_lanes;
#endif

static const struct lane_isa *chosen;

static bool has_avx2(void)
{
#ifdef PTX_HAS_AVX2
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

const struct lane_isa *lane_isa_get(void)
{
    if (chosen) {
        return chosen;
    }
#ifdef PTX_HAS_AVX2
    if (has_avx2()) {
        return &avx2_lanes;
    }
#endif
    return &base_lanes;
}

bool lane_isa_choose(const char *name)
{
    if (!name) {
        chosen = NULL;
        return true;
    }
    if (strcmp(name, "base") == 0) {
        chosen = &base_lanes;
        return true;
    }
#ifdef PTX_HAS_AVX2
    if (strcmp(name, "avx2") == 0 && has_avx2()) {
        chosen = &avx2_lanes;
        return true;
    }
#endif
    return false;
}

const char *lane_name(uint32_t lane)
{
    static const char *const names[LANE_count] = {
        [LANE_none] = "none",
#define UN(name, d, a, expr)          [LANE_##name] = #name,
#define BIN(name, d, a, b, expr)      [LANE_##name] = #name,
#define TER(name, d, a, b, c, expr)   [LANE_##name] = #name,
#define CMP(name, a, expr)            [LANE_##name] = #name,
#define SLOW1(name, d, a, expr)       [LANE_##name] = #name,
#define SLOW2(name, d, a, b, expr)    [LANE_##name] = #name,
#define SLOW3(name, d, a, b, c, expr) [LANE_##name] = #name,
#define OWN(name)                     [LANE_##name] = #name,
#include "ptx/lanes.def"
#undef UN
#undef BIN
#undef TER
#undef CMP
#undef SLOW1
#undef SLOW2
#undef SLOW3
#undef OWN
    };
    return lane < LANE_count ? names[lane] : "?";
}
