/* The work folder of a contract: its tree, and copies of what is built. */
#ifndef SSAN_CONTRACT_TREE_H
#define SSAN_CONTRACT_TREE_H

#include "contract/contract.h"

/* Makes sources/, builds/NN, runs/NNNN in the work folder, and copies the contract's file
 * (contract.yaml), its sources, files and expected outputs into sources/. SSAN_FORMAT: one of them
 * is not there, the text has the contract's line; SSAN_IO, SSAN_FULL, SSAN_NO_MEMORY. */
enum ssan_status tree_fill(const struct contract_options *options, const struct spec *spec,
                           const struct contract_plan *plan, struct ssan_error *err);

/* Whether nothing was written to the copy sources/`name` since: it is no younger than that of the
 * contract, which is made last. */
bool tree_is_as_copied(const char *work, const char *name);

/* Whether all these files are there to be read, before anything is made or run. SSAN_FORMAT: one is
 * not, the text has the contract's line; SSAN_NO_MEMORY. */
enum ssan_status tree_check(const struct plan_options *options, const struct spec *spec,
                            const struct contract_plan *plan, struct ssan_error *err);

/* Makes a folder, and those above it below `base`, for base/path. */
enum ssan_status tree_make(const char *base, const char *path, struct ssan_error *err);

/* Copies a file whole; what is there is replaced. */
enum ssan_status tree_copy(const char *from, const char *to, struct ssan_error *err);

/* Writes a text to a new or emptied file, down to the disk. */
enum ssan_status tree_write(const char *path, const char *text, size_t length,
                            struct ssan_error *err);

#endif
