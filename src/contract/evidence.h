/* Evidence of a contract: the folder in which it was carried out, with a record of each run, the
 * result, and the manifest, which is written last. A folder without a manifest is no evidence. */
#ifndef SSAN_CONTRACT_EVIDENCE_H
#define SSAN_CONTRACT_EVIDENCE_H

#include "contract/contract.h"
#include "contract/machine.h"
#include "contract/manifest.h"

/* Makes the folder; one that is there must be empty. SSAN_USAGE: it holds something; SSAN_IO,
 * SSAN_FULL. */
enum ssan_status evidence_begin(const char *folder, struct ssan_error *err);

/* Writes runs/NNNN/run.json, result.json and the manifest; `digest` is that of the manifest. On
 * failure there is no manifest. SSAN_IO, SSAN_FULL, SSAN_FORMAT (something that can't be evidence),
 * SSAN_NO_MEMORY. */
enum ssan_status evidence_finish(const struct contract_result *result,
                                 const struct contract_options *options,
                                 const struct machine_tools *tools, char digest[DIGEST_ROOM],
                                 struct ssan_error *err);

#endif
