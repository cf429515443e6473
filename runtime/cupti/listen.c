/* Listening to the driver. */
#include "runtime/cupti/listen.h"

#include <stdatomic.h>

#include "runtime/cupti/api.h"

static const struct pt_cu_listener *listener;
static void (*begin)(CUpti_ActivityKind kind);
static atomic_bool is_on;

void pt_cupti_listen_by(const struct pt_cu_listener *l, void (*begins)(CUpti_ActivityKind kind))
{
    listener = l;
    begin = begins;
}

void pt_cupti_listen_start(void)
{
    atomic_store(&is_on, true);
    pt_cupti_driver()->set(listener);
}

void pt_cupti_listen_stop(void)
{
    atomic_store(&is_on, false);
    if (pt_cupti_driver())
        pt_cupti_driver()->set(NULL);
}

bool pt_cupti_listen_is_on(void)
{
    return atomic_load(&is_on);
}

void pt_cupti_listen_begin(CUpti_ActivityKind kind)
{
    begin(kind);
}
