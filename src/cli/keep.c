/* Files of schedules, for `--schedule file:PATH`. The folder is made before the first run, its
 * parents are not. */
#include "cli/keep.h"

#include "cli/output.h"

#include "base/file.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

enum ssan_status keep_probe(const char *folder, struct ssan_error *err)
{
    struct stat info;
    if (!folder) {
        return SSAN_OK;
    }
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        return file_fail(err, errno, "can't create", folder);
    }
    if (stat(folder, &info) == 0 && !S_ISDIR(info.st_mode)) {
        return file_fail(err, ENOTDIR, "can't write into", folder);
    }
    return access(folder, W_OK | X_OK) == 0 ? SSAN_OK
                                            : file_fail(err, errno, "can't write into", folder);
}

enum ssan_status keep_path(const char *folder, const char *name, struct strbuf *path,
                           struct ssan_error *err)
{
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        return file_fail(err, errno, "can't create", folder);
    }
    strbuf_printf(path, "%s/%s", folder, name);
    return path->failed ? ssan_no_memory(err) : SSAN_OK;
}

enum ssan_status keep_plan(const char *path, const struct plan *plan, struct ssan_error *err)
{
    struct strbuf text = {0};
    enum ssan_status status;
    plan_print(plan, &text);
    status = text.failed ? ssan_no_memory(err) : output_write(path, -1, &text, err);
    strbuf_finish(&text);
    return status;
}
