#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

#include "curl_shims.h"

// RFC 2744 as the libraries of MIT and Heimdal have it on Linux. It is looked up in the process, where libcurl has
// brought it along: nothing more is needed to build, and nothing to run where libcurl does without.
typedef struct {
    size_t length;
    void *value;
} Buffer;
typedef struct {
    uint32_t length;
    void *elements;
} Identifier;
typedef uint32_t ImportName(uint32_t *, Buffer *, Identifier *, void **);
typedef uint32_t InitContext(uint32_t *, void *, void **, void *, Identifier *, uint32_t, uint32_t, void *, Buffer *,
                             Identifier **, Buffer *, uint32_t *, uint32_t *);
typedef uint32_t DeleteContext(uint32_t *, void **, Buffer *);
typedef uint32_t ReleaseName(uint32_t *, void **);
typedef uint32_t ReleaseBuffer(uint32_t *, Buffer *);

// The upper half of a status holds errors, the lower one what else there is to know.
static int hasFailed(uint32_t status) { return (status & 0xffff0000u) != 0; }

int nm_get_service_ticket(const char *service) {
    ImportName *importName = (ImportName *)dlsym(RTLD_DEFAULT, "gss_import_name");
    InitContext *initContext = (InitContext *)dlsym(RTLD_DEFAULT, "gss_init_sec_context");
    DeleteContext *deleteContext = (DeleteContext *)dlsym(RTLD_DEFAULT, "gss_delete_sec_context");
    ReleaseName *releaseName = (ReleaseName *)dlsym(RTLD_DEFAULT, "gss_release_name");
    ReleaseBuffer *releaseBuffer = (ReleaseBuffer *)dlsym(RTLD_DEFAULT, "gss_release_buffer");
    if (!importName || !initContext || !deleteContext || !releaseName || !releaseBuffer) return -1;

    // GSS_C_NT_HOSTBASED_SERVICE and SPNEGO (RFC 4178), as libcurl says them.
    Identifier hostBasedService = {10, "\x2a\x86\x48\x86\xf7\x12\x01\x02\x01\x04"};
    Identifier negotiation = {6, "\x2b\x06\x01\x05\x05\x02"};
    // GSS_C_MUTUAL_FLAG and GSS_C_REPLAY_FLAG.
    uint32_t flags = 2 | 4;
    uint32_t minor = 0;
    Buffer text = {strlen(service), (void *)service}, token = {0, 0};
    void *name = 0, *context = 0;
    if (hasFailed(importName(&minor, &text, &hostBasedService, &name))) return 0;
    uint32_t status =
        initContext(&minor, 0, &context, name, &negotiation, flags, 0, 0, 0, 0, &token, 0, 0);
    if (token.value) releaseBuffer(&minor, &token);
    if (context) deleteContext(&minor, &context, 0);
    releaseName(&minor, &name);
    return !hasFailed(status);
}
