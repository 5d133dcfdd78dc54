/* The manifest of a folder: the SHA-256 of every file in it, so that a change of any byte, a file
 * that is gone, or one more is noticed.
 *
 * A cryptographic hash, not the faster xxHash that traces have against damage: evidence is kept
 * against doubt, and nobody can make another file of the same SHA-256. The file has the form of
 * sha256sum, so that `sha256sum -c` checks it too. What the manifest can't show is that it is the
 * one that was written: its own hash is printed, to be kept elsewhere. */
#ifndef SSAN_CONTRACT_MANIFEST_H
#define SSAN_CONTRACT_MANIFEST_H

#include "base/status.h"
#include "base/vec.h"

#include "base/arena.h"

#define MANIFEST_NAME "MANIFEST.sha256"
#define DIGEST_ROOM   65 /* 64 digits and the end */

/* The SHA-256 of a plain file. SSAN_IO: it can't be read. */
enum ssan_status digest_file(char digest[DIGEST_ROOM], const char *path, struct ssan_error *err);

/* Writes the manifest of a folder, as the last file, at once or not at all: under another name
 * first, down to the disk, then renamed. `digest` is its own. SSAN_FORMAT: something in the folder
 * is no plain file, or has a name that is no text; SSAN_IO, SSAN_FULL, SSAN_NO_MEMORY: there is no
 * manifest then. */
enum ssan_status manifest_write(const char *folder, char digest[DIGEST_ROOM],
                                struct ssan_error *err);

enum manifest_change { MANIFEST_CHANGED, MANIFEST_MISSING, MANIFEST_ADDED };

struct manifest_difference {
    enum manifest_change change;
    const char *path; /* below the folder */
};

/* How a folder differs from its manifest, sorted by path. */
struct manifest_result {
    VEC(struct manifest_difference) differences;
    size_t files; /* of the manifest */
    char digest[DIGEST_ROOM];
    struct arena arena;
};

/* Compares a folder with its manifest. SSAN_OK also where they differ. SSAN_FORMAT: it has none, or
 * one that is damaged; SSAN_IO: a file can't be read; SSAN_NO_MEMORY. `result` needs
 * manifest_result_finish in any case. */
enum ssan_status manifest_verify(struct manifest_result *result, const char *folder,
                                 struct ssan_error *err);
void manifest_result_finish(struct manifest_result *result);

/* "changed", "missing", "added" */
const char *manifest_change_word(enum manifest_change change);

#endif
