/* The subscriber, and what it wants to be called for. There is one at most, as CUPTI has it. */
#include "runtime/cupti/callback.h"

#include <stdatomic.h>
#include <string.h>

#include "runtime/cupti/api.h"
#include "runtime/cupti/listen.h"
#include "runtime/cupti/names.h"

enum { NUMBERS = 1024 }; /* of a domain at most */

struct CUpti_Subscriber_st {
    _Atomic(CUpti_CallbackFunc) call; /* NULL: there is no subscriber */
    void *ud;
    atomic_uint_fast64_t wanted[CUPTI_CB_DOMAIN_SIZE][NUMBERS / 64];
};

static struct CUpti_Subscriber_st subscriber;
static _Thread_local unsigned inside;

bool pt_cupti_callback_is_inside(void)
{
    return inside != 0;
}

void pt_cupti_callback_enter(void)
{
    inside++;
}

void pt_cupti_callback_leave(void)
{
    inside--;
}

bool pt_cupti_callback_is_wanted(CUpti_CallbackDomain domain, uint32_t number)
{
    return number < NUMBERS &&
           (atomic_load_explicit(&subscriber.wanted[domain][number / 64], memory_order_relaxed) >>
                number % 64 &
            1) != 0;
}

void pt_cupti_callback_call(CUpti_CallbackDomain domain, uint32_t number, const void *data)
{
    CUpti_CallbackFunc call = atomic_load_explicit(&subscriber.call, memory_order_acquire);
    if (!call || !pt_cupti_callback_is_wanted(domain, number))
        return;
    inside++;
    call(subscriber.ud, domain, number, data);
    inside--;
}

/* ---- entries --------------------------------------------------------------------------------- */

static void want(CUpti_CallbackDomain domain, uint32_t number, bool is_wanted)
{
    uint64_t bit = UINT64_C(1) << number % 64;
    if (is_wanted)
        atomic_fetch_or(&subscriber.wanted[domain][number / 64], bit);
    else
        atomic_fetch_and(&subscriber.wanted[domain][number / 64], ~bit);
}

static void want_all(CUpti_CallbackDomain domain, bool are_wanted)
{
    for (uint32_t i = 1; i < pt_cupti_names_end(domain); i++)
        want(domain, i, are_wanted);
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc call, void *ud)
{
    CUpti_CallbackFunc nobody = NULL;
    if (!handle)
        return pt_cupti_error(CUPTI_ERROR_INVALID_PARAMETER);
    if (!call)
        return pt_cupti_error(CUPTI_ERROR_INVALID_PARAMETER);
    if (!pt_cupti_driver())
        return pt_cupti_error(CUPTI_ERROR_NOT_INITIALIZED);
    if (!atomic_compare_exchange_strong(&subscriber.call, &nobody, call))
        return pt_cupti_error(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
    subscriber.ud = ud;
    *handle = &subscriber;
    pt_cupti_listen_start();
    return CUPTI_SUCCESS;
}

static CUptiResult check(CUpti_SubscriberHandle handle)
{
    return handle == &subscriber && atomic_load(&subscriber.call)
               ? CUPTI_SUCCESS
               : pt_cupti_error(CUPTI_ERROR_INVALID_PARAMETER);
}

static CUptiResult check_domain(CUpti_CallbackDomain domain)
{
    return pt_cupti_names_end(domain) ? CUPTI_SUCCESS
                                      : pt_cupti_error(CUPTI_ERROR_INVALID_PARAMETER);
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle handle)
{
    CUptiResult r = check(handle);
    if (r != CUPTI_SUCCESS)
        return r;
    for (unsigned d = 1; d < CUPTI_CB_DOMAIN_SIZE; d++)
        want_all((CUpti_CallbackDomain)d, false);
    atomic_store(&subscriber.call, NULL);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableCallback(uint32_t is_wanted, CUpti_SubscriberHandle handle,
                                CUpti_CallbackDomain domain, CUpti_CallbackId number)
{
    CUptiResult r = check(handle);
    if (r == CUPTI_SUCCESS)
        r = check_domain(domain);
    if (r == CUPTI_SUCCESS && number >= pt_cupti_names_end(domain))
        r = pt_cupti_error(CUPTI_ERROR_INVALID_PARAMETER);
    if (r == CUPTI_SUCCESS)
        want(domain, number, is_wanted != 0);
    return r;
}

CUptiResult cuptiEnableDomain(uint32_t are_wanted, CUpti_SubscriberHandle handle,
                              CUpti_CallbackDomain domain)
{
    CUptiResult r = check(handle);
    if (r == CUPTI_SUCCESS)
        r = check_domain(domain);
    if (r == CUPTI_SUCCESS)
        want_all(domain, are_wanted != 0);
    return r;
}

CUptiResult cuptiEnableAllDomains(uint32_t are_wanted, CUpti_SubscriberHandle handle)
{
    CUptiResult r = check(handle);
    for (unsigned d = 1; r == CUPTI_SUCCESS && d < CUPTI_CB_DOMAIN_SIZE; d++)
        want_all((CUpti_CallbackDomain)d, are_wanted != 0);
    return r;
}

CUptiResult cuptiGetCallbackState(uint32_t *is_wanted, CUpti_SubscriberHandle handle,
                                  CUpti_CallbackDomain domain, CUpti_CallbackId number)
{
    CUptiResult r = check(handle);
    if (r == CUPTI_SUCCESS)
        r = check_domain(domain);
    if (r == CUPTI_SUCCESS && (!is_wanted || number >= pt_cupti_names_end(domain)))
        r = pt_cupti_error(CUPTI_ERROR_INVALID_PARAMETER);
    if (r == CUPTI_SUCCESS)
        *is_wanted = pt_cupti_callback_is_wanted(domain, number);
    return r;
}

CUptiResult cuptiSupportedDomains(size_t *count, CUpti_CallbackDomain **domains)
{
    static CUpti_CallbackDomain all[] = {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_CB_DOMAIN_RUNTIME_API,
                                         CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CB_DOMAIN_SYNCHRONIZE};
    if (!count || !domains)
        return pt_cupti_error(CUPTI_ERROR_INVALID_PARAMETER);
    *count = sizeof all / sizeof *all;
    *domains = all;
    return CUPTI_SUCCESS;
}
