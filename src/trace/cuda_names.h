/* Names and numbers of CUDA's errors, and the names of the calls that can be made to fail: for
 * whoever reads or prints them and may see no CUDA header. The errors are those of the table that
 * the headers of `streamsan cc` are made of. Constant data; any thread. */
#ifndef SSAN_TRACE_CUDA_NAMES_H
#define SSAN_TRACE_CUDA_NAMES_H

#include "trace/event.h"

#include <stdbool.h>
#include <stdint.h>

/* As cudaErrorInvalidValue; NULL for a code that is none. */
const char *cuda_error_name(uint32_t code);
/* As "invalid argument"; NULL for a code that is none. */
const char *cuda_error_text(uint32_t code);
/* The code of a name; false: no such error. */
bool cuda_error_find(const char *name, uint32_t *code);
/* The name that was meant; NULL: none is near. */
const char *cuda_error_similar(const char *name);
/* The error ends all use of CUDA in the process (R-ERR-3). */
bool cuda_error_is_sticky(uint32_t code);

/* A call of the CUDA runtime that --fail knows (cuda_calls.def): the name itself, which lives as
 * long as the process; NULL: none. */
const char *cuda_call_find(const char *name);
/* The name that was meant; NULL: none is near. */
const char *cuda_call_similar(const char *name);
/* What such a call does; OTHER for a name that is none. */
enum ssan_call_kind cuda_call_kind(const char *name);
/* The call submits a kernel, copy or memset, whose execution a sticky error ends. */
bool cuda_call_submits(const char *name);

#endif
