/* The short ways out of a process, in place of the C library's where this library was preloaded, so
 * that a normal end is told from a cut one. */
#include "trace/leaving.h"

#define EXPORTED __attribute__((visibility("default")))

_Noreturn void _exit(int code);
_Noreturn void _Exit(int code);
_Noreturn void quick_exit(int code);

EXPORTED _Noreturn void _exit(int code)
{
    leaving_now("_exit", code);
}

EXPORTED _Noreturn void _Exit(int code)
{
    leaving_now("_Exit", code);
}

EXPORTED _Noreturn void quick_exit(int code)
{
    leaving_now("quick_exit", code);
}
