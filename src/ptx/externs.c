/* Calls of functions that no module defines. */
#include "ptx/externs.h"

#include "ptx/libdevice.h"
#include "ptx/print.h"
#include "ptx/warp.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_ARGS 8

/* One call of one lane: arguments and result as bit patterns. */
struct lane_call {
    struct warp *w;
    const struct op *op;
    uint32_t lane;
    uint64_t in[MAX_ARGS];
    uint64_t out;
};

typedef void special_fn(struct lane_call *c);

static void give_f32(struct lane_call *c, uint64_t address, float value)
{
    mem_write_lane(c->w, c->op, c->lane, address, &value, sizeof value);
}

static void give_f64(struct lane_call *c, uint64_t address, double value)
{
    mem_write_lane(c->w, c->op, c->lane, address, &value, sizeof value);
}

static void give_s32(struct lane_call *c, uint64_t address, int value)
{
    mem_write_lane(c->w, c->op, c->lane, address, &value, sizeof value);
}

static float arg_f32(const struct lane_call *c, int i)
{
    float value;
    memcpy(&value, &c->in[i], sizeof value);
    return value;
}

static double arg_f64(const struct lane_call *c, int i)
{
    double value;
    memcpy(&value, &c->in[i], sizeof value);
    return value;
}

static void result_f32(struct lane_call *c, float value)
{
    memcpy(&c->out, &value, sizeof value);
}

static void result_f64(struct lane_call *c, double value)
{
    memcpy(&c->out, &value, sizeof value);
}

static void call_sincosf(struct lane_call *c)
{
    give_f32(c, c->in[1], sinf(arg_f32(c, 0)));
    give_f32(c, c->in[2], cosf(arg_f32(c, 0)));
}

static void call_sincos(struct lane_call *c)
{
    give_f64(c, c->in[1], sin(arg_f64(c, 0)));
    give_f64(c, c->in[2], cos(arg_f64(c, 0)));
}

static void call_frexpf(struct lane_call *c)
{
    int exponent = 0;
    result_f32(c, frexpf(arg_f32(c, 0), &exponent));
    give_s32(c, c->in[1], exponent);
}

static void call_frexp(struct lane_call *c)
{
    int exponent = 0;
    result_f64(c, frexp(arg_f64(c, 0), &exponent));
    give_s32(c, c->in[1], exponent);
}

static void call_modff(struct lane_call *c)
{
    float whole = 0;
    result_f32(c, modff(arg_f32(c, 0), &whole));
    give_f32(c, c->in[1], whole);
}

static void call_modf(struct lane_call *c)
{
    double whole = 0;
    result_f64(c, modf(arg_f64(c, 0), &whole));
    give_f64(c, c->in[1], whole);
}

static void call_remquof(struct lane_call *c)
{
    int quotient = 0;
    result_f32(c, remquof(arg_f32(c, 0), arg_f32(c, 1), &quotient));
    give_s32(c, c->in[2], quotient);
}

static void call_remquo(struct lane_call *c)
{
    int quotient = 0;
    result_f64(c, remquo(arg_f64(c, 0), arg_f64(c, 1), &quotient));
    give_s32(c, c->in[2], quotient);
}

static void call_nanf(struct lane_call *c)
{
    result_f32(c, NAN);
}

static void call_nan(struct lane_call *c)
{
    result_f64(c, NAN);
}

/* int vprintf(const char *format, const void *arguments) */
static void call_vprintf(struct lane_call *c)
{
    const int count = print_lane(c->w, c->op, c->lane, c->in[0], c->in[1]);
    c->out = (uint32_t)count;
    c->w->moved = true;
}

/* void __assertfail(message, file, line, function, char_size) */
static void call_assertfail(struct lane_call *c)
{
    char message[120], file[80], function[60];
    print_string(c->w, c->op, c->lane, c->in[0], message, sizeof message);
    print_string(c->w, c->op, c->lane, c->in[1], file, sizeof file);
    print_string(c->w, c->op, c->lane, c->in[3], function, sizeof function);
    if (c->w->exec->fault.fault) {
        return;
    }
    warp_fault(c->w, PTX_FAULT_ASSERT, c->op, 1u << c->lane, 0, 0, false);
    char text[320]; /* holds all of it: the fault's text is cut below */
    snprintf(text, sizeof text, "%s:%u: %s: assertion `%s' failed", file, (uint32_t)c->in[2],
             function, message);
    text[sizeof c->w->exec->fault.text - 1] = '\0';
    strcpy(c->w->exec->fault.text, text);
}

static void call_malloc(struct lane_call *c)
{
    struct ptx_machine *machine = &c->w->exec->machine;
    c->out = machine->heap_alloc && !c->w->exec->launch.dry
                 ? machine->heap_alloc(machine->self, c->in[0])
                 : 0;
    c->w->moved = true;
}

static void call_free(struct lane_call *c)
{
    struct ptx_machine *machine = &c->w->exec->machine;
    if (c->in[0] && machine->heap_free && !c->w->exec->launch.dry) {
        machine->heap_free(machine->self, c->in[0]);
    }
    c->w->moved = true;
}

/* bool grid_group::is_valid() */
static void call_grid_is_valid(struct lane_call *c)
{
    c->out = c->w->exec->launch.cooperative;
}

static const struct special {
    const char *name;
    special_fn *fn; /* NULL: the barrier of the grid, which all lanes come to at once */
    uint8_t result_bytes, arg_count, arg_bytes[5];
} specials[] = {
    {"__ssan_grid_sync", NULL, 0, 0, {0}},
    {"__ssan_grid_is_valid", call_grid_is_valid, 4, 0, {0}},
    {"vprintf", call_vprintf, 4, 2, {8, 8}},
    {"__assertfail", call_assertfail, 0, 5, {8, 8, 4, 8, 8}},
    {"malloc", call_malloc, 8, 1, {8}},
    {"free", call_free, 0, 1, {8}},
    {"__nv_sincosf", call_sincosf, 0, 3, {4, 8, 8}},
    {"__nv_fast_sincosf", call_sincosf, 0, 3, {4, 8, 8}},
    {"__nv_sincos", call_sincos, 0, 3, {8, 8, 8}},
    {"__nv_frexpf", call_frexpf, 4, 2, {4, 8}},
    {"__nv_frexp", call_frexp, 8, 2, {8, 8}},
    {"__nv_modff", call_modff, 4, 2, {4, 8}},
    {"__nv_modf", call_modf, 8, 2, {8, 8}},
    {"__nv_remquof", call_remquof, 4, 3, {4, 4, 8}},
    {"__nv_remquo", call_remquo, 8, 3, {8, 8, 8}},
    {"__nv_nanf", call_nanf, 4, 1, {8}},
    {"__nv_nan", call_nan, 8, 1, {8}},
};
#define SPECIAL_FNS (sizeof specials / sizeof *specials)

static bool sizes_fit(const uint8_t *want, uint32_t want_count, uint32_t want_result,
                      const uint32_t *bytes, uint32_t count, uint32_t result_bytes)
{
    bool fits = want_count == count && (want_result == result_bytes || want_result == 0);
    for (uint32_t i = 0; fits && i < count; i++) {
        fits = bytes[i] == want[i];
    }
    return fits;
}

int extern_find(const char *name, const uint32_t *param_bytes, uint32_t param_count,
                uint32_t result_bytes)
{
    for (size_t i = 0; i < SPECIAL_FNS; i++) {
        const struct special *s = &specials[i];
        if (strcmp(s->name, name) == 0) {
            return sizes_fit(s->arg_bytes, s->arg_count, s->result_bytes, param_bytes, param_count,
                             result_bytes)
                       ? (int)i
                       : -1;
        }
    }
    if (strncmp(name, "__nv_", 5) != 0) {
        return -1;
    }
    for (size_t i = 0; i < libdevice_count; i++) {
        const struct libdevice_entry *e = &libdevice_entries[i];
        if (strcmp(e->name, name + 5) == 0) {
            return sizes_fit(e->arg_bytes, e->arg_count, e->result_bytes, param_bytes, param_count,
                             result_bytes)
                       ? (int)(SPECIAL_FNS + i)
                       : -1;
        }
    }
    return -1;
}

void extern_call(struct warp *w, const struct op *op, uint32_t mask, int index,
                 struct frame *caller, const struct call_site *site)
{
    if ((size_t)index < SPECIAL_FNS && !specials[index].fn) {
        grid_barrier(w, op, mask);
        return;
    }
    EACH_LANE(i, mask)
    {
        struct lane_call c = {.w = w, .op = op, .lane = i};
        for (uint32_t k = 0; k < site->arg_count && k < MAX_ARGS; k++) {
            const uint32_t size = site->args[k].size_bytes < 8 ? site->args[k].size_bytes : 8;
            local_read(w, i, (uint64_t)caller->local_base + site->args[k].offset, &c.in[k], size);
        }
        if ((size_t)index < SPECIAL_FNS) {
            specials[index].fn(&c);
        } else {
            libdevice_entries[(size_t)index - SPECIAL_FNS].fn(c.in, &c.out);
        }
        if (w->exec->fault.fault) {
            return;
        }
        if (site->result.size_bytes) {
            local_write(w, i, (uint64_t)caller->local_base + site->result.offset, &c.out,
                        site->result.size_bytes < 8 ? site->result.size_bytes : 8);
        }
    }
}
