/* Writes whole texts and tells what went wrong, down to the close. */
#include "cli/output.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static int open_file(const char *path)
{
    return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

enum ssan_status output_probe(const char *path, struct ssan_error *err)
{
    int fd;
    if (!path) {
        return SSAN_OK;
    }
    fd = open_file(path);
    if (fd < 0) {
        return file_fail(err, errno, "can't write", path);
    }
    close(fd);
    return SSAN_OK;
}

enum ssan_status output_write(const char *path, int otherwise, const struct strbuf *text,
                              struct ssan_error *err)
{
    int fd = path ? open_file(path) : otherwise, error = 0;
    const char *name = path                         ? path
                       : otherwise == STDOUT_FILENO ? "standard output"
                                                    : "standard error";
    if (text->failed) {
        error = ENOMEM;
    } else if (fd < 0) {
        return file_fail(err, errno, "can't write", name);
    }
    if (!error) {
        error = file_write(fd, strbuf_text(text), text->length);
        error = error == EPIPE && !path ? 0 : error;
    }
    if (path && fd >= 0 && close(fd) != 0 && !error) {
        error = errno;
    }
    return error ? file_fail(err, error, "can't write", name) : SSAN_OK;
}
