/* One source file to one object: the passes of clang.
 *
 * A .cu file is compiled twice. The device pass gives PTX; the host pass embeds it, as
 * SSAN_BLOB_MAGIC, the text and a NUL, where clang's registration code finds it. Both passes see
 * streamsan's headers before any other and never look for a CUDA toolkit. Line tables and frame
 * pointers are always on, and calls are not turned into jumps: reports name the program's own
 * lines. */
#ifndef SSAN_CC_COMPILE_H
#define SSAN_CC_COMPILE_H

#include "cc/clang.h"
#include "cc/job.h"

struct compiler {
    struct session *session;
    const struct clang *clang;
    struct cc_job *job;
    const char *include_dir; /* streamsan's own headers */
};

/* Does with `item`, a source, what the job's mode asks for. `exit_code` is that of the first pass
 * that failed, else 0; `item->object` is set when there is something to link. */
enum ssan_status compile_item(const struct compiler *compiler, struct cc_item *item, int *exit_code,
                              struct ssan_error *err);

#endif
