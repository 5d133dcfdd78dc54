/* Files of schedules, for `--schedule file:PATH`. The folder is made when the first one is kept,
 * its parents are not. */
#include "cli/keep.h"

#include "cli/output.h"

#include "base/file.h"

#include <errno.h>
#include <sys/stat.h>

enum ssan_status keep_path(const char *folder, const char *name, struct strbuf *path,
                           struct ssan_error *err)
{
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        return file_fail(err, errno, "can't create", folder);
    }
    strbuf_printf(path, "%s/%s", folder, name);
    return path->failed ? ssan_fail(err, SSAN_NO_MEMORY, 0, "out of memory") : SSAN_OK;
}

enum ssan_status keep_plan(const char *path, const struct plan *plan, struct ssan_error *err)
{
    struct strbuf text = {0};
    enum ssan_status status;
    plan_print(plan, &text);
    status = text.failed ? ssan_fail(err, SSAN_NO_MEMORY, 0, "out of memory")
                         : output_write(path, -1, &text, err);
    strbuf_finish(&text);
    return status;
}
