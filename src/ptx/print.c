/* printf of kernels: each conversion is taken from the format in device memory and handed to the
 * host's snprintf with its argument. */
#include "ptx/print.h"

#include "base/strbuf.h"

#include <stdio.h>
#include <string.h>

#define MAX_STRING 65536

bool print_string(struct warp *w, const struct op *op, uint32_t lane, uint64_t address, char *text,
                  size_t size)
{
    for (size_t i = 0; i + 1 < size; i++) {
        if (!mem_read_lane(w, op, lane, address + i, &text[i], 1)) {
            return false;
        }
        if (!text[i]) {
            return true;
        }
    }
    text[size - 1] = '\0';
    return true;
}

/* Where the next argument lies. */
struct arguments {
    struct warp *w;
    const struct op *op;
    uint32_t lane;
    uint64_t at;
    int count;
    bool failed;
};

static uint64_t next_argument(struct arguments *args, uint32_t bytes)
{
    uint64_t value = 0;
    args->at = (args->at + bytes - 1) / bytes * bytes;
    if (!mem_read_lane(args->w, args->op, args->lane, args->at, &value, bytes)) {
        args->failed = true;
    }
    args->at += bytes;
    args->count++;
    return value;
}

static void add_string(struct strbuf *out, struct arguments *args, const char *spec)
{
    const uint64_t address = next_argument(args, 8);
    char *text = mem_alloc(MAX_STRING);
    if (!text) {
        out->failed = true;
        return;
    }
    if (args->failed || !address) {
        snprintf(text, MAX_STRING, "(null)");
    } else if (!print_string(args->w, args->op, args->lane, address, text, MAX_STRING)) {
        args->failed = true;
        text[0] = '\0';
    }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    strbuf_printf(out, spec, text);
    mem_free(text);
}

/* One conversion: `spec` is flags, width and precision; `wide` tells ll, l, j, z or t. */
static void add_conversion(struct strbuf *out, struct arguments *args, const char *spec, char kind,
                           bool wide)
{
    char full[64];
    snprintf(full, sizeof full, "%s%s%c", spec, strchr("diouxX", kind) ? "ll" : "", kind);
    if (strchr("di", kind)) {
        const uint64_t value = next_argument(args, wide ? 8 : 4);
        strbuf_printf(out, full, wide ? (long long)value : (long long)(int32_t)value);
    } else if (strchr("ouxX", kind)) {
        strbuf_printf(out, full, (unsigned long long)next_argument(args, wide ? 8 : 4));
    } else if (kind == 'c') {
        strbuf_printf(out, full, (int)next_argument(args, 4));
    } else if (kind == 'p') {
        strbuf_printf(out, full, (void *)(uintptr_t)next_argument(args, 8));
    } else if (kind == 's') {
        add_string(out, args, full);
    } else {
        const uint64_t bits = next_argument(args, 8);
        double value;
        memcpy(&value, &bits, sizeof value);
        strbuf_printf(out, full, value);
    }
}
#pragma GCC diagnostic pop

/* Reads a conversion behind '%', writes it; returns what follows. */
static const char *convert(struct strbuf *out, struct arguments *args, const char *at)
{
    char spec[48] = "%";
    size_t length = 1;
    const char *start = at;
    while (*at && strchr("-+ #0123456789.*", *at) && length < 40) {
        if (*at == '*') {
            length += (size_t)snprintf(spec + length, sizeof spec - length, "%d",
                                       (int32_t)next_argument(args, 4));
        } else {
            spec[length++] = *at;
        }
        at++;
    }
    spec[length < sizeof spec ? length : sizeof spec - 1] = '\0';
    bool wide = false;
    while (*at && strchr("hlLqjzt", *at)) {
        wide |= *at != 'h';
        at++;
    }
    if (*at && strchr("diouxXcpsaAeEfFgG", *at)) {
        add_conversion(out, args, spec, *at, wide);
        return at + 1;
    }
    strbuf_add(out, start - 1, (size_t)(at - start) + 1); /* not a conversion: as it stands */
    return at;
}

int print_lane(struct warp *w, const struct op *op, uint32_t lane, uint64_t format,
               uint64_t arguments)
{
    char *text = mem_alloc(MAX_STRING);
    if (!text) {
        warp_fault(w, PTX_FAULT_NO_MEMORY, op, 1u << lane, 0, 0, false);
        return -1;
    }
    struct strbuf out = {0};
    struct arguments args = {.w = w, .op = op, .lane = lane, .at = arguments};
    int count = -1;
    if (print_string(w, op, lane, format, text, MAX_STRING)) {
        for (const char *at = text; *at;) {
            if (*at != '%') {
                const size_t plain = strcspn(at, "%");
                strbuf_add(&out, at, plain);
                at += plain;
            } else if (at[1] == '%') {
                strbuf_puts(&out, "%");
                at += 2;
            } else {
                at = convert(&out, &args, at + 1);
            }
        }
        count = args.failed ? -1 : args.count;
    }
    struct ptx_machine *machine = &w->exec->machine;
    if (count >= 0 && !out.failed && machine->print && !w->exec->launch.dry) {
        machine->print(machine->self, strbuf_text(&out), out.length);
    }
    if (out.failed) {
        warp_fault(w, PTX_FAULT_NO_MEMORY, op, 1u << lane, 0, 0, false);
    }
    strbuf_finish(&out);
    mem_free(text);
    return count;
}
