/* Green contexts: some of a device's SMs, and work that is to run on those.
 *
 * Memory, modules and streams are those of the primary context (`whole`). What is left of the SMs
 * here is how many there are: kernels run on the CPU's cores, all of them, in whatever context; a
 * cooperative launch may have as many blocks as the SMs of its green context hold. */
#include <string.h>

#include "runtime/cuda/command.h"
#include "runtime/cuda/context_list.h"
#include "runtime/cuda/current.h"
#include "runtime/cuda/device.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/handle.h"
#include "runtime/cuda/primary_context.h"
#include "runtime/cuda/stream.h"

/* What a resource has inside: which split it is a part of (0: of none), and which of its parts. */
struct part {
    uint64_t split;
    unsigned number;
    CUdevice device;
};
_Static_assert(sizeof(struct part) <= PTERA_DEV_RESOURCE_INSIDE, "a part fits a resource");

struct CUdevResourceDesc_st {
    struct pt_cu_object object;
    CUdevice device;
    unsigned sms;
};

/* ---- resources ------------------------------------------------------------------------------- */

static CUresult check_type(const CUdevResource *out, CUdevResourceType type)
{
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    return type == CU_DEV_RESOURCE_TYPE_SM ? CUDA_SUCCESS : CUDA_ERROR_INVALID_RESOURCE_TYPE;
}

static CUdevResource make(unsigned sms, const struct part *part)
{
    CUdevResource r = {.type = CU_DEV_RESOURCE_TYPE_SM, .sm = {.smCount = sms}};
    memcpy(r._internal_padding, part, sizeof *part);
    return r;
}

static struct part part_of(const CUdevResource *r)
{
    struct part part;
    memcpy(&part, r->_internal_padding, sizeof part);
    return part;
}

/* The least SMs that a part may have, and what their number is a multiple of, as the guide has them
 * by compute capability. */
static CUdevSmResource grain(bool is_coscheduled)
{
    int major = pt_cu_driver.limits->major;
    if (!is_coscheduled || major < 8)
        return (CUdevSmResource){0, 2, 2};
    return major == 8 ? (CUdevSmResource){0, 4, 2} : (CUdevSmResource){0, 8, 8};
}

/* What may be split. */
static CUdevResource make_whole(CUdevice device, unsigned sms)
{
    CUdevResource r = make(sms, &(struct part){.device = device});
    r.sm = grain(true);
    r.sm.smCount = sms;
    return r;
}

static unsigned sms_of(CUdevice device)
{
    return (unsigned)pt_cu_device_attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
}

static CUresult device_resource(CUdevice device, CUdevResource *out, CUdevResourceType type)
{
    CUresult r = pt_cu_driver_check();
    if (r == CUDA_SUCCESS && !pt_cu_device_is_valid(device))
        r = CUDA_ERROR_INVALID_DEVICE;
    if (r == CUDA_SUCCESS)
        r = check_type(out, type);
    if (r == CUDA_SUCCESS)
        *out = make_whole(device, sms_of(device));
    return r;
}

CUresult cuDeviceGetDevResource(CUdevice device, CUdevResource *resource, CUdevResourceType type)
{
    return API(device_resource(device, resource, type));
}

/* The SMs of each part, whose number is at least `least`. */
static unsigned size_of_parts(unsigned least, unsigned flags)
{
    CUdevSmResource g = grain(!(flags & CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING));
    unsigned size = (least + g.smCoscheduledAlignment - 1) / g.smCoscheduledAlignment *
                    g.smCoscheduledAlignment;
    return size < g.minSmPartitionSize ? g.minSmPartitionSize : size;
}

static CUresult split(CUdevResource *parts, unsigned *n, const CUdevResource *whole,
                      CUdevResource *rest, unsigned flags, unsigned least)
{
    const unsigned both = CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING |
                          CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE;
    CUresult r = pt_cu_driver_check();
    if (r != CUDA_SUCCESS)
        return r;
    if (!n || !whole || (parts && !*n) || (flags & both) == both)
        return CUDA_ERROR_INVALID_VALUE;
    if (whole->type != CU_DEV_RESOURCE_TYPE_SM)
        return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    struct part part = part_of(whole);
    if (part.split || least > whole->sm.smCount || size_of_parts(least, flags) > whole->sm.smCount)
        return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    unsigned size = size_of_parts(least, flags), count = whole->sm.smCount / size;
    part.split = pt_cu_handle_new_id();
    if (parts && *n < count)
        count = *n;
    for (; parts && part.number < count; part.number++)
        parts[part.number] = make(size, &part);
    part.number = count;
    if (rest)
        *rest = make(whole->sm.smCount - count * size, &part);
    *n = count;
    return CUDA_SUCCESS;
}

CUresult cuDevSmResourceSplitByCount(CUdevResource *result, unsigned *n, const CUdevResource *input,
                                     CUdevResource *remaining, unsigned flags, unsigned least)
{
    return API(split(result, n, input, remaining, flags, least));
}

/* Several are different parts of one split. */
static bool go_together(const CUdevResource *resources, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < i; k++) {
            struct part a = part_of(&resources[i]), b = part_of(&resources[k]);
            if (!a.split || a.split != b.split || a.number == b.number)
                return false;
        }
    return true;
}

static CUresult generate(CUdevResourceDesc *out, const CUdevResource *resources, unsigned n)
{
    CUresult r = pt_cu_driver_check();
    if (r != CUDA_SUCCESS)
        return r;
    if (!out || !resources || !n)
        return CUDA_ERROR_INVALID_VALUE;
    unsigned sms = 0;
    for (unsigned i = 0; i < n; i++) {
        if (resources[i].type != CU_DEV_RESOURCE_TYPE_SM)
            return CUDA_ERROR_INVALID_RESOURCE_TYPE;
        sms += resources[i].sm.smCount;
    }
    if (!sms || !go_together(resources, n))
        return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    CUdevResourceDesc desc = pt_cu_handle_new(PT_CU_RESOURCES, sizeof *desc);
    if (!desc)
        return CUDA_ERROR_OUT_OF_MEMORY;
    desc->device = part_of(resources).device;
    desc->sms = sms;
    *out = desc; /* CUDA has no call that ends one */
    return CUDA_SUCCESS;
}

CUresult cuDevResourceGenerateDesc(CUdevResourceDesc *desc, CUdevResource *resources, unsigned n)
{
    return API(generate(desc, resources, n));
}

/* ---- green contexts -------------------------------------------------------------------------- */

/* Without a description it has all SMs. */
static CUresult create(CUgreenCtx *out, CUdevResourceDesc desc, CUdevice device, unsigned flags)
{
    CUcontext whole;
    CUresult r = pt_cu_driver_check();
    if (r != CUDA_SUCCESS)
        return r;
    if (!out || flags != CU_GREEN_CTX_DEFAULT_STREAM)
        return CUDA_ERROR_INVALID_VALUE;
    if (!pt_cu_device_is_valid(device))
        return CUDA_ERROR_INVALID_DEVICE;
    if (desc && (!pt_cu_handle_is(desc, PT_CU_RESOURCES) || desc->device != device))
        return CUDA_ERROR_INVALID_VALUE;
    r = pt_cu_primary_context_retain(&whole, device);
    if (r != CUDA_SUCCESS)
        return r;
    CUcontext green = pt_cu_handle_new(PT_CU_GREEN_CONTEXT, sizeof *green);
    if (!green) {
        pt_cu_primary_context_release(device);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    green->device = device;
    green->whole = whole;
    green->is_alive = true;
    green->sms = desc ? desc->sms : sms_of(device);
    *out = (CUgreenCtx)green;
    pt_cu_handle_give(green);
    return CUDA_SUCCESS;
}

CUresult cuGreenCtxCreate(CUgreenCtx *green, CUdevResourceDesc desc, CUdevice device,
                          unsigned flags)
{
    return API(create(green, desc, device, flags));
}

/* Its streams go on as the primary context's. */
static CUresult destroy(CUgreenCtx given)
{
    CUcontext green = (CUcontext)given;
    CUresult r = pt_cu_context_list_check_green(given);
    if (r != CUDA_SUCCESS)
        return r;
    for (CUstream s = green->whole->streams; s; s = s->next)
        if (s->green == green)
            s->green = NULL;
    pt_cu_command_put(green->gate);
    green->gate = NULL;
    green->is_alive = false;
    pt_cu_primary_context_release(green->device);
    green->refs++;
    pt_cu_current_unref(green);
    return CUDA_SUCCESS;
}

CUresult cuGreenCtxDestroy(CUgreenCtx green)
{
    return API(destroy(green));
}

static CUresult context_of(CUcontext *ctx, CUgreenCtx green)
{
    CUresult r = pt_cu_context_list_check_green(green);
    if (r == CUDA_SUCCESS && !ctx)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *ctx = (CUcontext)green;
    return r;
}

CUresult cuCtxFromGreenCtx(CUcontext *ctx, CUgreenCtx green)
{
    return API(context_of(ctx, green));
}

static CUresult get_id(CUgreenCtx green, unsigned long long *id)
{
    CUresult r = pt_cu_context_list_check_green(green);
    if (r == CUDA_SUCCESS && !id)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *id = ((CUcontext)green)->object.id;
    return r;
}

CUresult cuGreenCtxGetId(CUgreenCtx green, unsigned long long *id)
{
    return API(get_id(green, id));
}

/* Of a context, which has all SMs, or of a green one. */
static CUresult context_resource(CUcontext given, CUdevResource *out, CUdevResourceType type)
{
    CUcontext whole;
    CUresult r = pt_cu_context_list_check(given, &whole);
    if (r == CUDA_SUCCESS)
        r = check_type(out, type);
    if (r == CUDA_SUCCESS)
        *out = make_whole(whole->device, given == whole ? sms_of(whole->device) : given->sms);
    return r;
}

CUresult cuCtxGetDevResource(CUcontext ctx, CUdevResource *resource, CUdevResourceType type)
{
    return API(context_resource(ctx, resource, type));
}

CUresult cuGreenCtxGetDevResource(CUgreenCtx green, CUdevResource *resource, CUdevResourceType type)
{
    CUresult r = pt_cu_context_list_check_green(green);
    return API(r == CUDA_SUCCESS ? context_resource((CUcontext)green, resource, type) : r);
}
