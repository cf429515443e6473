/* References to textures and surfaces: variables of modules (.texref, .surfref) that the program
 * binds to arrays and memory. Such a variable is what a handle leads to (backend/semantics), and is
 * written anew with each change, when nothing of its context is under way. What the calls take is
 * what the driver of an H100 takes: most of it without a look. */
#include "runtime/cuda/reference.h"

#include <string.h>

#include "backend/semantics/surface.h"
#include "runtime/cuda/array.h"
#include "runtime/cuda/command.h"
#include "runtime/cuda/current.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/log.h"
#include "runtime/cuda/surface.h"
#include "runtime/cuda/texture.h"
#include "runtime/globals.h"

enum { ADDRESS_ALIGNMENT = 512, CHANNELS_MAX = 4, FLAGS = 0x3f };

struct CUtexref_st {
    struct pt_cu_object object;
    CUmodule module;   /* NULL: it is no module's */
    uint64_t variable; /* its address */
    bool is_bound;
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC sampler;
    CUarray_format format;
    int channels;
    CUtexref next;
};

struct CUsurfref_st {
    struct pt_cu_object object;
    CUmodule module;
    uint64_t variable;
    CUarray array; /* NULL: none */
    CUsurfref next;
};

/* ---- finding them ---------------------------------------------------------------------------- */

static CUresult check_get(const void *out, CUmodule module, const char *name)
{
    CUresult r = pt_cu_driver_check();
    if (r == CUDA_SUCCESS && !pt_cu_handle_is(module, PT_CU_MODULE))
        r = CUDA_ERROR_INVALID_HANDLE;
    return r == CUDA_SUCCESS && (!out || !name) ? CUDA_ERROR_INVALID_VALUE : r;
}

static CUtexref new_texture(void)
{
    CUtexref t = pt_cu_handle_new(PT_CU_TEXTURE_REFERENCE, sizeof *t);
    if (!t)
        return NULL;
    t->format = CU_AD_FORMAT_FLOAT;
    t->channels = 1;
    for (int i = 0; i < PT_TEXTURE_AXES; i++)
        t->sampler.addressMode[i] = CU_TR_ADDRESS_MODE_CLAMP;
    return t;
}

static CUresult get_texture(CUtexref *out, CUmodule module, const char *name)
{
    uint64_t variable;
    CUresult r = check_get(out, module, name);
    if (r == CUDA_SUCCESS && !pt_globals_reference(module->ptera, name, PT_texref, &variable))
        r = CUDA_ERROR_NOT_FOUND;
    if (r != CUDA_SUCCESS)
        return r;
    CUtexref t = module->textures;
    while (t && t->variable != variable)
        t = t->next;
    if (!t) {
        t = new_texture();
        if (!t)
            return CUDA_ERROR_OUT_OF_MEMORY;
        t->module = module;
        t->variable = variable;
        t->next = module->textures;
        module->textures = t;
    }
    *out = t;
    return CUDA_SUCCESS;
}

CUresult cuModuleGetTexRef(CUtexref *texture, CUmodule module, const char *name)
{
    return API(get_texture(texture, module, name));
}

static CUresult get_surface(CUsurfref *out, CUmodule module, const char *name)
{
    uint64_t variable;
    CUresult r = check_get(out, module, name);
    if (r == CUDA_SUCCESS && !pt_globals_reference(module->ptera, name, PT_surfref, &variable))
        r = CUDA_ERROR_NOT_FOUND;
    if (r != CUDA_SUCCESS)
        return r;
    CUsurfref s = module->surfaces;
    while (s && s->variable != variable)
        s = s->next;
    if (!s) {
        s = pt_cu_handle_new(PT_CU_SURFACE_REFERENCE, sizeof *s);
        if (!s)
            return CUDA_ERROR_OUT_OF_MEMORY;
        s->module = module;
        s->variable = variable;
        s->next = module->surfaces;
        module->surfaces = s;
    }
    *out = s;
    return CUDA_SUCCESS;
}

CUresult cuModuleGetSurfRef(CUsurfref *surface, CUmodule module, const char *name)
{
    return API(get_surface(surface, module, name));
}

static CUresult create(CUtexref *out)
{
    CUcontext ctx;
    CUresult r = pt_cu_current_get(&ctx);
    if (r == CUDA_SUCCESS && !out)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && !(*out = new_texture()))
        r = CUDA_ERROR_OUT_OF_MEMORY;
    return r;
}

CUresult cuTexRefCreate(CUtexref *texture)
{
    return API(create(texture));
}

static CUresult check(CUtexref t)
{
    CUresult r = pt_cu_driver_check();
    return r == CUDA_SUCCESS && !pt_cu_handle_is(t, PT_CU_TEXTURE_REFERENCE)
               ? CUDA_ERROR_INVALID_HANDLE
               : r;
}

/* A module's stays, without an error. */
static CUresult destroy(CUtexref t)
{
    CUresult r = check(t);
    if (r == CUDA_SUCCESS && !t->module)
        pt_cu_handle_delete(t);
    return r;
}

CUresult cuTexRefDestroy(CUtexref texture)
{
    return API(destroy(texture));
}

void pt_cu_reference_delete_all(CUmodule module)
{
    while (module->textures) {
        CUtexref t = module->textures;
        module->textures = t->next;
        pt_cu_handle_delete(t);
    }
    while (module->surfaces) {
        CUsurfref s = module->surfaces;
        module->surfaces = s->next;
        pt_cu_handle_delete(s);
    }
}

/* ---- binding textures ------------------------------------------------------------------------ */

static bool has_array(const struct CUtexref_st *t)
{
    return t->is_bound && t->resource.resType == CU_RESOURCE_TYPE_ARRAY &&
           pt_cu_handle_is(t->resource.res.array.hArray, PT_CU_ARRAY);
}

/* Whether what it is bound to has the format that it was given; else zeros are read. */
static bool is_of_format(const struct CUtexref_st *t)
{
    const CUDA_ARRAY3D_DESCRIPTOR *d;
    if (t->resource.resType != CU_RESOURCE_TYPE_ARRAY)
        return true;
    if (!has_array(t))
        return false;
    d = &t->resource.res.array.hArray->descriptor;
    return d->Format == t->format && (int)d->NumChannels == t->channels;
}

/* Writes the variable anew. */
static CUresult apply(CUtexref t)
{
    struct pt_texture texture = {0};
    CUresult r = CUDA_SUCCESS;
    if (t->is_bound && is_of_format(t))
        r = pt_cu_texture_describe(&texture, &t->resource, &t->sampler, NULL);
    if (r != CUDA_SUCCESS)
        texture = (struct pt_texture){0};
    if (!t->module)
        return CUDA_SUCCESS;
    if (r == CUDA_ERROR_NOT_SUPPORTED) /* kernels that read it fail */
        pt_cu_log_print("a texture reference is bound so as is not supported");
    else
        texture.key = pt_texture_key(t->variable);
    r = pt_cu_command_drain(t->module->ctx);
    *(struct pt_texture *)(uintptr_t)t->variable = texture;
    return r;
}

static CUresult set_array(CUtexref t, CUarray a, unsigned flags)
{
    CUresult r = check(t);
    if (r == CUDA_SUCCESS && !pt_cu_handle_is(a, PT_CU_ARRAY))
        r = CUDA_ERROR_INVALID_HANDLE;
    if (r == CUDA_SUCCESS && flags & ~(unsigned)CU_TRSA_OVERRIDE_FORMAT)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    t->resource = (CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_ARRAY};
    t->resource.res.array.hArray = a;
    t->is_bound = true;
    t->format = a->descriptor.Format;
    t->channels = (int)a->descriptor.NumChannels;
    return apply(t);
}

CUresult cuTexRefSetArray(CUtexref texture, CUarray array, unsigned flags)
{
    return API(set_array(texture, array, flags));
}

static CUresult set_mipmap(CUtexref t, CUmipmappedArray m, unsigned flags)
{
    CUarray first;
    CUresult r = check(t);
    if (r == CUDA_SUCCESS && !pt_cu_handle_is(m, PT_CU_MIPMAP))
        r = CUDA_ERROR_INVALID_HANDLE;
    if (r == CUDA_SUCCESS && flags & ~(unsigned)CU_TRSA_OVERRIDE_FORMAT)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    first = pt_cu_array_level(m, 0);
    t->resource = (CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY};
    t->resource.res.mipmap.hMipmappedArray = m;
    t->is_bound = true;
    t->format = first->descriptor.Format;
    t->channels = (int)first->descriptor.NumChannels;
    return apply(t);
}

CUresult cuTexRefSetMipmappedArray(CUtexref texture, CUmipmappedArray array, unsigned flags)
{
    return API(set_mipmap(texture, array, flags));
}

/* The address is made a multiple of the alignment; how far, goes to `offset`, or may not be. */
static CUresult set_address(size_t *offset, CUtexref t, CUdeviceptr address, size_t bytes)
{
    size_t beyond = address % ADDRESS_ALIGNMENT;
    CUresult r = check(t);
    if (r == CUDA_SUCCESS && beyond && !offset)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    if (offset)
        *offset = beyond;
    t->resource = (CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_LINEAR};
    t->resource.res.linear.devPtr = address - beyond;
    t->resource.res.linear.format = t->format;
    t->resource.res.linear.numChannels = (unsigned)t->channels;
    t->resource.res.linear.sizeInBytes = bytes + beyond;
    t->is_bound = address != 0;
    return apply(t);
}

CUresult cuTexRefSetAddress_v2(size_t *offset, CUtexref texture, CUdeviceptr address, size_t bytes)
{
    return API(set_address(offset, texture, address, bytes));
}

static CUresult set_address_2d(CUtexref t, const CUDA_ARRAY_DESCRIPTOR *d, CUdeviceptr address,
                               size_t pitch)
{
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_PITCH2D};
    struct pt_texture texture = {0};
    CUresult r = check(t);
    if (r == CUDA_SUCCESS && !d)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    resource.res.pitch2D.devPtr = address;
    resource.res.pitch2D.format = d->Format;
    resource.res.pitch2D.numChannels = d->NumChannels;
    resource.res.pitch2D.width = d->Width;
    resource.res.pitch2D.height = d->Height;
    resource.res.pitch2D.pitchInBytes = pitch;
    if (address && pitch < d->Width * d->NumChannels * pt_cu_array_channel_bytes(d->Format))
        return CUDA_ERROR_INVALID_VALUE;
    if (address &&
        pt_cu_texture_describe(&texture, &resource, &t->sampler, NULL) == CUDA_ERROR_INVALID_VALUE)
        return CUDA_ERROR_INVALID_VALUE;
    t->resource = resource;
    t->is_bound = address != 0;
    t->format = d->Format;
    t->channels = (int)d->NumChannels;
    return apply(t);
}

CUresult cuTexRefSetAddress2D_v3(CUtexref texture, const CUDA_ARRAY_DESCRIPTOR *descriptor,
                                 CUdeviceptr address, size_t pitch)
{
    return API(set_address_2d(texture, descriptor, address, pitch));
}

static CUresult get_address(CUdeviceptr *address, CUtexref t)
{
    CUresult r = check(t);
    if (r == CUDA_SUCCESS && !address)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    bool is_linear = t->is_bound && t->resource.resType == CU_RESOURCE_TYPE_LINEAR,
         is_pitched = t->is_bound && t->resource.resType == CU_RESOURCE_TYPE_PITCH2D;
    *address = is_linear    ? t->resource.res.linear.devPtr
               : is_pitched ? t->resource.res.pitch2D.devPtr
                            : 0;
    return *address ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuTexRefGetAddress_v2(CUdeviceptr *address, CUtexref texture)
{
    return API(get_address(address, texture));
}

static CUresult get_array(CUarray *a, CUtexref t)
{
    CUresult r = check(t);
    if (r == CUDA_SUCCESS && (!a || !has_array(t)))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *a = t->resource.res.array.hArray;
    return r;
}

CUresult cuTexRefGetArray(CUarray *array, CUtexref texture)
{
    return API(get_array(array, texture));
}

static CUresult get_mipmap(CUmipmappedArray *m, CUtexref t)
{
    CUresult r = check(t);
    if (r == CUDA_SUCCESS &&
        (!m || !t->is_bound || t->resource.resType != CU_RESOURCE_TYPE_MIPMAPPED_ARRAY))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *m = t->resource.res.mipmap.hMipmappedArray;
    return r;
}

CUresult cuTexRefGetMipmappedArray(CUmipmappedArray *array, CUtexref texture)
{
    return API(get_mipmap(array, texture));
}

/* ---- how they are sampled -------------------------------------------------------------------- */

/* A call that gets or sets something of a reference, if its arguments are valid. */
#define ENTRY(name, parameters, is_valid, ...) \
    static CUresult do_##name parameters       \
    {                                          \
        CUresult r = check(texture);           \
        if (r == CUDA_SUCCESS && !(is_valid))  \
            r = CUDA_ERROR_INVALID_VALUE;      \
        if (r != CUDA_SUCCESS)                 \
            return r;                          \
        __VA_ARGS__;                           \
    }                                          \
    CUresult name parameters
#define SET(name, parameters, arguments, is_valid, change)           \
    ENTRY(name, parameters, is_valid, change; return apply(texture)) \
    {                                                                \
        return API(do_##name arguments);                             \
    }
#define GET(name, parameters, arguments, is_valid, change)         \
    ENTRY(name, parameters, is_valid, change; return CUDA_SUCCESS) \
    {                                                              \
        return API(do_##name arguments);                           \
    }

/* Address modes that there are not become clamping; filters that there are not are kept. */
static CUaddress_mode mode_of(CUaddress_mode mode)
{
    return (unsigned)mode > CU_TR_ADDRESS_MODE_BORDER ? CU_TR_ADDRESS_MODE_CLAMP : mode;
}

SET(cuTexRefSetFormat, (CUtexref texture, CUarray_format format, int channels),
    (texture, format, channels), channels != 3 && channels <= CHANNELS_MAX,
    (texture->format = format, texture->channels = channels))
SET(cuTexRefSetAddressMode, (CUtexref texture, int axis, CUaddress_mode mode),
    (texture, axis, mode), axis >= 0 && axis < PT_TEXTURE_AXES,
    texture->sampler.addressMode[axis] = mode_of(mode))
SET(cuTexRefSetFilterMode, (CUtexref texture, CUfilter_mode mode), (texture, mode), true,
    texture->sampler.filterMode = mode)
SET(cuTexRefSetMipmapFilterMode, (CUtexref texture, CUfilter_mode mode), (texture, mode),
    (unsigned)mode <= CU_TR_FILTER_MODE_LINEAR, texture->sampler.mipmapFilterMode = mode)
SET(cuTexRefSetMipmapLevelBias, (CUtexref texture, float bias), (texture, bias), true,
    texture->sampler.mipmapLevelBias = bias)
SET(cuTexRefSetMipmapLevelClamp, (CUtexref texture, float least, float most),
    (texture, least, most), true,
    (texture->sampler.minMipmapLevelClamp = least, texture->sampler.maxMipmapLevelClamp = most))
SET(cuTexRefSetMaxAnisotropy, (CUtexref texture, unsigned most), (texture, most), true,
    texture->sampler.maxAnisotropy = most)
SET(cuTexRefSetBorderColor, (CUtexref texture, float *colour), (texture, colour), colour,
    memcpy(texture->sampler.borderColor, colour, sizeof texture->sampler.borderColor))
SET(cuTexRefSetFlags, (CUtexref texture, unsigned flags), (texture, flags),
    !(flags & ~(unsigned)FLAGS), texture->sampler.flags = flags)

GET(cuTexRefGetFormat, (CUarray_format * format, int *channels, CUtexref texture),
    (format, channels, texture), true,
    (format ? *format = texture->format : 0, channels ? *channels = texture->channels : 0))
GET(cuTexRefGetAddressMode, (CUaddress_mode * mode, CUtexref texture, int axis),
    (mode, texture, axis), mode &&axis >= 0 && axis < PT_TEXTURE_AXES,
    *mode = texture->sampler.addressMode[axis])
GET(cuTexRefGetFilterMode, (CUfilter_mode * mode, CUtexref texture), (mode, texture), mode,
    *mode = texture->sampler.filterMode)
GET(cuTexRefGetMipmapFilterMode, (CUfilter_mode * mode, CUtexref texture), (mode, texture), mode,
    *mode = texture->sampler.mipmapFilterMode)
GET(cuTexRefGetMipmapLevelBias, (float *bias, CUtexref texture), (bias, texture), bias,
    *bias = texture->sampler.mipmapLevelBias)
GET(cuTexRefGetMipmapLevelClamp, (float *least, float *most, CUtexref texture),
    (least, most, texture), least &&most,
    (*least = texture->sampler.minMipmapLevelClamp, *most = texture->sampler.maxMipmapLevelClamp))
GET(cuTexRefGetMaxAnisotropy, (int *most, CUtexref texture), (most, texture), most,
    *most = (int)texture->sampler.maxAnisotropy)
GET(cuTexRefGetBorderColor, (float *colour, CUtexref texture), (colour, texture), colour,
    memcpy(colour, texture->sampler.borderColor, sizeof texture->sampler.borderColor))
GET(cuTexRefGetFlags, (unsigned *flags, CUtexref texture), (flags, texture), flags,
    *flags = texture->sampler.flags)

/* ---- surfaces -------------------------------------------------------------------------------- */

static CUresult check_surface(CUsurfref s)
{
    CUresult r = pt_cu_driver_check();
    return r == CUDA_SUCCESS && !pt_cu_handle_is(s, PT_CU_SURFACE_REFERENCE)
               ? CUDA_ERROR_INVALID_HANDLE
               : r;
}

static CUresult bind_surface(CUsurfref s, CUarray a, unsigned flags)
{
    struct pt_surface surface = {0};
    CUresult r = check_surface(s);
    if (r == CUDA_SUCCESS && !pt_cu_handle_is(a, PT_CU_ARRAY))
        r = CUDA_ERROR_INVALID_HANDLE;
    if (r == CUDA_SUCCESS && (flags || !(a->descriptor.Flags & CUDA_ARRAY3D_SURFACE_LDST)))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = pt_cu_surface_describe(&surface, a);
    if (r == CUDA_SUCCESS)
        r = pt_cu_command_drain(s->module->ctx);
    if (r != CUDA_SUCCESS)
        return r;
    surface.key = pt_surface_key(s->variable);
    *(struct pt_surface *)(uintptr_t)s->variable = surface;
    s->array = a;
    return CUDA_SUCCESS;
}

CUresult cuSurfRefSetArray(CUsurfref surface, CUarray array, unsigned flags)
{
    return API(bind_surface(surface, array, flags));
}

static CUresult get_surface_array(CUarray *a, CUsurfref s)
{
    CUresult r = check_surface(s);
    if (r == CUDA_SUCCESS && (!a || !pt_cu_handle_is(s->array, PT_CU_ARRAY)))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *a = s->array;
    return r;
}

CUresult cuSurfRefGetArray(CUarray *array, CUsurfref surface)
{
    return API(get_surface_array(array, surface));
}
