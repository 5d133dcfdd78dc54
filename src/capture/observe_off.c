/* No device accesses: launches are told, what they touch is not. */
#include "capture/observe.h"

enum ssan_accesses observe_start(const struct observe_setup *setup)
{
    return SSAN_accesses_OFF;
}

void observe_window(bool inside)
{
}

void observe_context(CUcontext context)
{
}

void observe_context_end(CUcontext context)
{
}

void observe_module(const struct sanitizer_module_data *module)
{
}

void observe_module_end(const struct sanitizer_module_data *module)
{
}

void observe_functions_loaded(const struct sanitizer_functions_data *functions)
{
}

bool observe_launch(uint64_t op, const char *name, const struct sanitizer_launch_data *launch)
{
    return false;
}

void observe_launch_end(uint64_t op, const struct sanitizer_launch_data *launch)
{
}

void observe_graph_node(const struct sanitizer_graph_node_data *node)
{
}

void observe_alloc(uint64_t address, uint64_t size, enum ssan_memory memory, uint32_t alloc)
{
}

void observe_free(uint64_t address)
{
}

void observe_joined(CUcontext context, struct sanitizer_stream *stream)
{
}

void observe_exit(void)
{
}

void observe_detach(void)
{
}
