/* Knows the frames of a launch that nvcc made.
 *
 * The stub of a kernel is called __device_stub__ and the rest of the kernel's mangled name, in
 * which the kernel's own name stands behind its length: that tells the host function of the kernel
 * from the caller, where the compiler left no frame of it. Where the linker's name of a function is
 * known it must be the kernel's, as a caller may be an overload of the same name. */
#include "symbol/launch_stub.h"

#include "base/ctext.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define STUB      "__device_stub__"
#define ANONYMOUS "(anonymous namespace)"

static bool ends_with(const char *text, const char *end)
{
    size_t length = text ? strlen(text) : 0, wanted = strlen(end);
    return length >= wanted && strcmp(text + length - wanted, end) == 0;
}

static bool is_in_runtime_header(const struct symbol_frame *frame)
{
    return ends_with(frame->file, "/crt/device_functions.h") ||
           ends_with(frame->file, "/cuda_runtime.h");
}

/* The name of a function without scopes and arguments: "f" of "void a::f<int>(int*)". */
static const char *own_name(const char *function, size_t *length)
{
    const char *end = function, *begin;
    while (*end && *end != '<' && (*end != '(' || !strncmp(end, ANONYMOUS, strlen(ANONYMOUS)))) {
        end += *end == '(' ? strlen(ANONYMOUS) : 1;
    }
    for (begin = end; begin > function && ctext_is_word(begin[-1]);) {
        begin--;
    }
    *length = (size_t)(end - begin);
    return begin;
}

static bool is_kernel_of(const char *function, const char *stub)
{
    char mangled[512];
    size_t length;
    const char *name = own_name(function, &length);
    int written = snprintf(mangled, sizeof mangled, "%zu%.*s", length, (int)length, name);
    return length > 0 && written > 0 && (size_t)written < sizeof mangled && strstr(stub, mangled);
}

/* Whether a stub's name holds the mangled name `symbol`. Marks of internal linkage, an L before a
 * length, are in only one of them. */
static bool holds_symbol(const char *stub, const char *symbol)
{
    const char *kernel = stub + strlen(STUB) - 1;
    for (; *symbol; symbol++, kernel++) {
        if (symbol[0] == 'L' && isdigit((unsigned char)symbol[1]) && *kernel != 'L') {
            symbol++;
        }
        if (*kernel != *symbol) {
            return false;
        }
    }
    return *kernel == '\0' || *kernel == '(';
}

bool launch_stub_hides(struct launch_stub *stub, const struct symbol_frame *frame)
{
    const char *passed = stub->passed;
    if (frame->function && strncmp(frame->function, STUB, strlen(STUB)) == 0) {
        stub->passed = frame->function;
        return true;
    }
    if (ends_with(frame->file, ".cudafe1.stub.c") || is_in_runtime_header(frame)) {
        return true; /* __wrapper__device_stub_ of a template among them */
    }
    stub->passed = NULL;
    if (passed && frame->symbol && strncmp(frame->symbol, "_Z", 2) == 0) {
        return holds_symbol(passed, frame->symbol);
    }
    return passed && frame->function && is_kernel_of(frame->function, passed);
}
