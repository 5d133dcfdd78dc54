/* The floor that the measurements compare with: an injected library that does nothing at all.
 *
 * Environment: EMPTY_DOMAINS lists the callback domains to enable ("3,4,5", or "2:211" for one
 * callback of a domain); EMPTY_PATCH names a fatbin with empty_access: then every module is
 * patched, the patch returns at once. Built only where NVIDIA's headers are (SANITIZER_API); test
 * code, no part of the product. */
#include <sanitizer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *patch;

static void told(SanitizerResult result, const char *what)
{
    if (result != SANITIZER_SUCCESS) {
        fprintf(stderr, "empty injection: %s: %d\n", what, (int)result);
    }
}

static void patch_module(const Sanitizer_ResourceModuleData *data)
{
    static const Sanitizer_InstructionId accesses[] = {SANITIZER_INSTRUCTION_GLOBAL_MEMORY_ACCESS,
                                                       SANITIZER_INSTRUCTION_MEMCPY_ASYNC};
    static const char *const names[] = {"empty_access", "empty_copy"};
    for (size_t i = 0; i < sizeof accesses / sizeof accesses[0]; ++i) {
        told(sanitizerPatchInstructions(accesses[i], data->module, names[i]), names[i]);
    }
    told(sanitizerPatchModule(data->module), "sanitizerPatchModule");
}

static void SANITIZERAPI on_callback(void *unused, Sanitizer_CallbackDomain domain,
                                     Sanitizer_CallbackId id, const void *data)
{
    (void)unused;
    if (!patch || domain != SANITIZER_CB_DOMAIN_RESOURCE) {
        return;
    }
    if (id == SANITIZER_CBID_RESOURCE_CONTEXT_CREATION_FINISHED) {
        const Sanitizer_ResourceContextData *context = data;
        told(sanitizerAddPatchesFromFile(patch, context->context), patch);
    } else if (id == SANITIZER_CBID_RESOURCE_MODULE_LOADED) {
        patch_module(data);
    }
}

int InitializeInjection(void);

int InitializeInjection(void)
{
    Sanitizer_SubscriberHandle subscriber;
    const char *domains = getenv("EMPTY_DOMAINS");
    patch = getenv("EMPTY_PATCH");
    told(sanitizerSubscribe(&subscriber, on_callback, NULL), "sanitizerSubscribe");
    for (const char *at = domains && *domains ? domains : "3"; *at;) {
        char *end;
        unsigned long domain = strtoul(at, &end, 10);
        if (*end == ':') {
            unsigned long id = strtoul(end + 1, &end, 10);
            /* A library that does not know the call yet refuses it; so it goes for streamsan. */
            (void)sanitizerEnableCallback(1, subscriber, (Sanitizer_CallbackDomain)domain,
                                          (Sanitizer_CallbackId)id);
        } else {
            told(sanitizerEnableDomain(1, subscriber, (Sanitizer_CallbackDomain)domain),
                 "sanitizerEnableDomain");
        }
        at = *end ? end + 1 : end;
    }
    return 1;
}
