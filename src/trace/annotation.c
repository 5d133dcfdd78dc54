/* One case for each kind of annotate.h. Pure. */
#include "trace/annotation.h"

#include "streamsan/annotate.h"

bool annotation_has_site(uint32_t kind)
{
    return kind == SSAN_ANNOTATE_HOST_READ || kind == SSAN_ANNOTATE_HOST_WRITE ||
           kind == SSAN_ANNOTATE_POOL_ALLOC || kind == SSAN_ANNOTATE_POOL_FREE;
}

bool annotation_event(const struct annotation *annotation, uint32_t thread, uint32_t site,
                      struct ssan_event *event)
{
    const uint64_t address = (uint64_t)(uintptr_t)annotation->object;
    const uint64_t pool = (uint64_t)(uintptr_t)annotation->pool, bytes = annotation->bytes;
    const bool is_read = annotation->kind == SSAN_ANNOTATE_HOST_READ;
    *event = (struct ssan_event){0};
    switch (annotation->kind) {
    case SSAN_ANNOTATE_HOST_READ:
    case SSAN_ANNOTATE_HOST_WRITE:
        event->kind = SSAN_EV_host_access;
        event->host_access = (struct ssan_ev_host_access){
            thread, is_read ? SSAN_access_READ : SSAN_access_WRITE, address, bytes, site};
        return bytes > 0;
    case SSAN_ANNOTATE_IGNORE:
    case SSAN_ANNOTATE_UNIGNORE:
        event->kind = SSAN_EV_ignore;
        event->ignore =
            (struct ssan_ev_ignore){address, bytes, annotation->kind == SSAN_ANNOTATE_IGNORE};
        return true;
    case SSAN_ANNOTATE_HAPPENS_BEFORE:
        event->kind = SSAN_EV_release;
        event->release = (struct ssan_ev_release){thread, address};
        return true;
    case SSAN_ANNOTATE_HAPPENS_AFTER:
        event->kind = SSAN_EV_acquire;
        event->acquire = (struct ssan_ev_acquire){thread, address};
        return true;
    case SSAN_ANNOTATE_POOL_ALLOC:
        event->kind = SSAN_EV_pool_alloc;
        event->pool_alloc = (struct ssan_ev_pool_alloc){pool, address, bytes, thread, site};
        return true;
    case SSAN_ANNOTATE_POOL_FREE:
        event->kind = SSAN_EV_pool_free;
        event->pool_free = (struct ssan_ev_pool_free){pool, address, thread, site};
        return true;
    default:
        return false;
    }
}
