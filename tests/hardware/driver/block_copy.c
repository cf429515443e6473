/* Copies of arrays of compressed blocks by the runtime library: what sizes and places count in. */
#include "tests/hardware/driver/channels.h"

#include <stdbool.h>

enum { SIDE = 32, BYTES = 8192 }; /* texels, which are 8 x 8 blocks; more than there are */

static cudaArray_t array, second, boxed; /* of blocks; the last has a depth */
static cudaArray_t pixels; /* of as many bytes for a texel as a block of `array` has */
static unsigned char out[BYTES], in[BYTES];
static unsigned char *memory;

static void begin(void)
{
    struct cudaChannelFormatDesc d =
        channels(8, 8, 8, 8, cudaChannelFormatKindUnsignedBlockCompressed1);
    struct cudaChannelFormatDesc p = channels(32, 32, 0, 0, cudaChannelFormatKindUnsigned);
    for (int i = 0; i < BYTES; i++)
        out[i] = (unsigned char)(1 + i / 8); /* a block's number */
    SAY(cudaMallocArray(&array, &d, SIDE, SIDE, 0));
    SAY(cudaMallocArray(&second, &d, SIDE, SIDE, 0));
    SAY(cudaMalloc3DArray(&boxed, &d, extent(SIDE, SIDE, 4), 0));
    SAY(cudaMallocArray(&pixels, &p, 8, 8, 0));
    SAY(cudaMalloc((void **)&memory, BYTES));
}

/* All blocks, by the driver, which counts in them. */
static void all(cudaArray_t a, bool writes)
{
    CUDA_MEMCPY2D c;
    memset(&c, 0, sizeof c);
    c.WidthInBytes = 64;
    c.Height = 8;
    c.srcMemoryType = writes ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_ARRAY;
    c.dstMemoryType = writes ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_HOST;
    c.srcHost = c.dstHost = in;
    c.srcPitch = c.dstPitch = 64;
    c.srcArray = c.dstArray = (CUarray)a;
    if (cuMemcpy2D(&c))
        printf("no copy of all\n");
}

static void clear(cudaArray_t a)
{
    memset(in, 0, sizeof in);
    all(a, true);
}

static void fill(cudaArray_t a)
{
    memcpy(in, out, sizeof in);
    all(a, true);
}

/* How many bytes of `in` were written, which are the first and the last, and what they are. */
static void say_written(void)
{
    int n = 0, first = -1, last = -1;
    for (int i = 0; i < BYTES; i++)
        if (in[i]) {
            first = first < 0 ? i : first;
            last = i;
            n++;
        }
    printf("  %d bytes, %d to %d: %d to %d\n", n, first, last, first < 0 ? 0 : in[first],
           last < 0 ? 0 : in[last]);
}

static void say_array(cudaArray_t a)
{
    memset(in, 0, sizeof in);
    all(a, false);
    say_written();
}

/* ---- boxes ----------------------------------------------------------------------------------- */

static struct cudaMemcpy3DParms to_array(cudaArray_t a, size_t pitch, size_t w, size_t h)
{
    struct cudaMemcpy3DParms p;
    memset(&p, 0, sizeof p);
    p.srcPtr = (struct cudaPitchedPtr){out, pitch, pitch, 32};
    p.dstArray = a;
    p.extent = extent(w, h, 1);
    p.kind = cudaMemcpyHostToDevice;
    return p;
}

static struct cudaMemcpy3DParms from_array(cudaArray_t a, size_t pitch, size_t w, size_t h)
{
    struct cudaMemcpy3DParms p;
    memset(&p, 0, sizeof p);
    p.dstPtr = (struct cudaPitchedPtr){in, pitch, pitch, 32};
    p.srcArray = a;
    p.extent = extent(w, h, 1);
    p.kind = cudaMemcpyDeviceToHost;
    return p;
}

static void boxes(void)
{
    static const int sizes[][2] = {
        {1, 1},   {2, 1},   {3, 1},   {4, 1},  {4, 2},  {4, 3},   {4, 4},  {5, 4},  {8, 1},
        {8, 2},   {8, 8},   {9, 8},   {8, 9},  {16, 4}, {32, 1},  {32, 2}, {32, 4}, {32, 8},
        {32, 32}, {33, 32}, {32, 33}, {64, 8}, {65, 8}, {128, 8}, {256, 8}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t w = (size_t)sizes[i][0], h = (size_t)sizes[i][1];
        struct cudaMemcpy3DParms p = to_array(array, 256, w, h);
        clear(array);
        printf("to an array, %zu x %zu: %d\n", w, h, (int)cudaMemcpy3D(&p));
        say_array(array);
        p = from_array(array, 256, w, h);
        fill(array);
        memset(in, 0, sizeof in);
        printf("from an array, %zu x %zu: %d\n", w, h, (int)cudaMemcpy3D(&p));
        say_written();
    }
}

static void places(void)
{
    static const int at[][2] = {{1, 0},  {2, 0}, {3, 0}, {4, 0}, {8, 0},  {16, 0}, {28, 0},
                                {29, 0}, {0, 1}, {0, 2}, {0, 4}, {0, 7},  {0, 8},  {0, 28},
                                {0, 29}, {1, 1}, {4, 4}, {7, 7}, {28, 28}};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        size_t x = (size_t)at[i][0], y = (size_t)at[i][1];
        struct cudaMemcpy3DParms p = to_array(array, 256, 4, 4);
        p.dstPos = (struct cudaPos){x, y, 0};
        clear(array);
        printf("4 x 4 to %zu, %zu: %d\n", x, y, (int)cudaMemcpy3D(&p));
        say_array(array);
        p.extent = extent(4, 1, 1);
        clear(array);
        printf("4 x 1 to %zu, %zu: %d\n", x, y, (int)cudaMemcpy3D(&p));
        say_array(array);
        p = from_array(array, 256, 4, 4);
        p.srcPos = (struct cudaPos){x, y, 0};
        fill(array);
        memset(in, 0, sizeof in);
        printf("4 x 4 from %zu, %zu: %d\n", x, y, (int)cudaMemcpy3D(&p));
        say_written();
        /* the place in memory */
        p = to_array(array, 256, 4, 4);
        p.srcPos = (struct cudaPos){x, y, 0};
        clear(array);
        printf("4 x 4 behind %zu, %zu: %d\n", x, y, (int)cudaMemcpy3D(&p));
        say_array(array);
    }
}

static void pitches(void)
{
    static const int pitch[] = {0, 4, 8, 16, 32, 64, 65, 127, 128, 256};
    for (size_t i = 0; i < sizeof pitch / sizeof *pitch; i++)
        for (int rows = 2; rows <= 32; rows *= 2) {
            struct cudaMemcpy3DParms p = to_array(array, (size_t)pitch[i], 32, 8);
            p.srcPtr.ysize = (size_t)rows;
            clear(array);
            printf("pitch %d, height %d: %d\n", pitch[i], rows, (int)cudaMemcpy3D(&p));
            say_array(array);
        }
}

static void between(void)
{
    static const int sizes[][2] = {{4, 4}, {8, 8}, {16, 2}, {32, 8}, {32, 32}, {1, 1}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct cudaMemcpy3DParms p;
        memset(&p, 0, sizeof p);
        p.extent = extent((size_t)sizes[i][0], (size_t)sizes[i][1], 1);
        p.kind = cudaMemcpyDeviceToDevice;
        p.srcArray = array;
        p.dstArray = second;
        fill(array);
        clear(second);
        printf("blocks to blocks, %d x %d: %d\n", sizes[i][0], sizes[i][1], (int)cudaMemcpy3D(&p));
        say_array(second);
        p.dstArray = pixels;
        clear(pixels);
        printf("blocks to pixels, %d x %d: %d\n", sizes[i][0], sizes[i][1], (int)cudaMemcpy3D(&p));
        say_array(pixels);
        p.srcArray = pixels;
        p.dstArray = array;
        fill(pixels);
        clear(array);
        printf("pixels to blocks, %d x %d: %d\n", sizes[i][0], sizes[i][1], (int)cudaMemcpy3D(&p));
        say_array(array);
    }
}

static void depths(void)
{
    static unsigned char back[4 * 64 * 8];
    for (size_t depth = 1; depth <= 5; depth++)
        for (size_t z = 0; z < 2; z++) {
            struct cudaMemcpy3DParms p = to_array(boxed, 64, 32, 32);
            p.srcPtr.ysize = 8;
            p.extent.depth = depth;
            p.dstPos.z = z;
            printf("depth %zu at %zu: %d\n", depth, z, (int)cudaMemcpy3D(&p));
            p.srcPtr.ysize = 32;
            printf("depth %zu at %zu, 32 rows: %d\n", depth, z, (int)cudaMemcpy3D(&p));
            CUDA_MEMCPY3D c;
            memset(&c, 0, sizeof c);
            c.srcMemoryType = CU_MEMORYTYPE_ARRAY;
            c.srcArray = (CUarray)boxed;
            c.dstMemoryType = CU_MEMORYTYPE_HOST;
            c.dstHost = back;
            c.dstPitch = 64;
            c.dstHeight = 8;
            c.WidthInBytes = 64;
            c.Height = 8;
            c.Depth = 4;
            printf("back: %d", (int)cuMemcpy3D(&c));
            for (int i = 0; i < 4; i++)
                printf(" %d to %d", back[i * 512], back[i * 512 + 511]);
            printf("\n");
        }
}

/* What a graph's node has of such a copy. */
static void nodes(void)
{
    cudaGraph_t graph;
    cudaGraphNode_t node;
    struct cudaMemcpy3DParms p = to_array(array, 256, 8, 8), got;
    SAY(cudaGraphCreate(&graph, 0));
    SAY(cudaGraphAddMemcpyNode(&node, graph, NULL, 0, &p));
    memset(&got, 0, sizeof got);
    SAY(cudaGraphMemcpyNodeGetParams(node, &got));
    printf("%zu x %zu x %zu\n", got.extent.width, got.extent.height, got.extent.depth);
    p = from_array(array, 256, 16, 4);
    p.srcPos = (struct cudaPos){4, 4, 0};
    SAY(cudaGraphMemcpyNodeSetParams(node, &p));
    memset(&got, 0, sizeof got);
    SAY(cudaGraphMemcpyNodeGetParams(node, &got));
    printf("%zu x %zu x %zu from %zu, %zu\n", got.extent.width, got.extent.height, got.extent.depth,
           got.srcPos.x, got.srcPos.y);
}

void part_rt_block_boxes(void)
{
    say_begin();
    begin();
    boxes();
    places();
    pitches();
    between();
    depths();
    nodes();
}

/* ---- rectangles and runs --------------------------------------------------------------------- */

static void rectangles(void)
{
    static const int sizes[][2] = {{4, 1},  {8, 1},  {8, 2},  {8, 4},   {8, 8},  {16, 4},
                                   {16, 9}, {32, 8}, {64, 8}, {64, 32}, {65, 8}, {72, 1}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t w = (size_t)sizes[i][0], h = (size_t)sizes[i][1];
        clear(array);
        printf("2D to an array, %zu x %zu: %d\n", w, h,
               (int)cudaMemcpy2DToArray(array, 0, 0, out, 128, w, h, cudaMemcpyHostToDevice));
        say_array(array);
        clear(array);
        printf("2D to 8, 4, %zu x %zu: %d\n", w, h,
               (int)cudaMemcpy2DToArray(array, 8, 4, out, 128, w, h, cudaMemcpyHostToDevice));
        say_array(array);
        fill(array);
        memset(in, 0, sizeof in);
        printf("2D from an array, %zu x %zu: %d\n", w, h,
               (int)cudaMemcpy2DFromArray(in, 128, array, 0, 0, w, h, cudaMemcpyDeviceToHost));
        say_written();
        fill(array);
        clear(second);
        printf("2D between, %zu x %zu: %d\n", w, h,
               (int)cudaMemcpy2DArrayToArray(second, 0, 0, array, 8, 1, w, h,
                                             cudaMemcpyDeviceToDevice));
        say_array(second);
    }
}

static void runs(void)
{
    static const int sizes[] = {1, 4, 8, 16, 56, 64, 72, 128, 256, 512, 520, 1024, 4096};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t n = (size_t)sizes[i];
        clear(array);
        printf("run to an array, %zu: %d\n", n,
               (int)cudaMemcpyToArray(array, 0, 0, out, n, cudaMemcpyHostToDevice));
        say_array(array);
        clear(array);
        printf("run to 8, 1, %zu: %d\n", n,
               (int)cudaMemcpyToArray(array, 8, 1, out, n, cudaMemcpyHostToDevice));
        say_array(array);
        fill(array);
        memset(in, 0, sizeof in);
        printf("run from an array, %zu: %d\n", n,
               (int)cudaMemcpyFromArray(in, array, 0, 0, n, cudaMemcpyDeviceToHost));
        say_written();
        clear(second);
        printf("run between, %zu: %d\n", n,
               (int)cudaMemcpyArrayToArray(second, 0, 0, array, 8, 0, n, cudaMemcpyDeviceToDevice));
        say_array(second);
    }
}

void part_rt_block_rows(void)
{
    say_begin();
    begin();
    rectangles();
    runs();
}

/* Blocks of 16 bytes, and of one and two channels. */
void part_rt_block_formats(void)
{
    static const struct {
        int kind, bits, channels;
    } formats[] = {{cudaChannelFormatKindUnsignedBlockCompressed1, 8, 4},
                   {cudaChannelFormatKindUnsignedBlockCompressed2SRGB, 8, 4},
                   {cudaChannelFormatKindUnsignedBlockCompressed3, 8, 4},
                   {cudaChannelFormatKindSignedBlockCompressed4, 8, 1},
                   {cudaChannelFormatKindUnsignedBlockCompressed5, 8, 2},
                   {cudaChannelFormatKindUnsignedBlockCompressed6H, 16, 3},
                   {cudaChannelFormatKindUnsignedBlockCompressed7, 8, 4}};
    say_begin();
    begin();
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        int b = formats[i].bits, n = formats[i].channels;
        struct cudaChannelFormatDesc d = channels(b, n > 1 ? b : 0, n > 2 ? b : 0, n > 3 ? b : 0,
                                                  (enum cudaChannelFormatKind)formats[i].kind);
        static const int sizes[][2] = {{4, 4}, {8, 2}, {8, 8}, {13, 9}, {16, 4}, {16, 12}};
        cudaArray_t a = NULL;
        printf("format %d: %d\n", (int)d.f, (int)cudaMallocArray(&a, &d, 13, 9, 0));
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            struct cudaMemcpy3DParms p = to_array(a, 256, (size_t)sizes[k][0], (size_t)sizes[k][1]);
            printf("to it, %d x %d: %d\n", sizes[k][0], sizes[k][1], (int)cudaMemcpy3D(&p));
            p = from_array(a, 256, (size_t)sizes[k][0], (size_t)sizes[k][1]);
            memset(in, 0, sizeof in);
            printf("from it, %d x %d: %d\n", sizes[k][0], sizes[k][1], (int)cudaMemcpy3D(&p));
            say_written();
        }
        cudaFreeArray(a);
    }
}

/* ---- places and pitches ---------------------------------------------------------------------- */

static cudaArray_t plane; /* of 16 x 8 words, as many bytes as there are blocks in `array` */

static void memory_places(void)
{
    for (int x = 0; x < 6; x++)
        for (int y = 0; y < 2; y++) {
            struct cudaMemcpy3DParms p = to_array(plane, 64, 4, 2);
            p.srcPos = (struct cudaPos){(size_t)x, (size_t)y, 0};
            clear(plane);
            printf("words behind %d, %d: %d\n", x, y, (int)cudaMemcpy3D(&p));
            say_array(plane);
            p = from_array(plane, 64, 4, 2);
            p.dstPos = (struct cudaPos){(size_t)x, (size_t)y, 0};
            fill(plane);
            memset(in, 0, sizeof in);
            printf("words to behind %d, %d: %d\n", x, y, (int)cudaMemcpy3D(&p));
            say_written();
        }
}

static void say_pitch(const char *what, cudaArray_t to, int pitch, int rows, int w, int h)
{
    struct cudaMemcpy3DParms p = to_array(to, (size_t)pitch, (size_t)w, (size_t)h);
    p.srcPtr.ysize = (size_t)rows;
    if (!to) {
        p.dstPtr = (struct cudaPitchedPtr){memory, 256, 256, 32};
        p.kind = cudaMemcpyDefault;
    }
    printf("%s, pitch %d, height %d, %d x %d: %d\n", what, pitch, rows, w, h,
           (int)cudaMemcpy3D(&p));
    p.srcPtr.xsize = 3; /* how much of a row there is */
    printf("a narrow row: %d\n", (int)cudaMemcpy3D(&p));
}

static void more_pitches(void)
{
    static const int pitch[] = {0, 1, 4, 8, 15, 16, 17, 31, 32, 33, 63, 64};
    for (size_t i = 0; i < sizeof pitch / sizeof *pitch; i++) {
        say_pitch("words", plane, pitch[i], 8, 16, 8);
        say_pitch("words", plane, pitch[i], 8, 16, 1);
        say_pitch("blocks", array, pitch[i], 8, 32, 4);
        say_pitch("blocks", array, pitch[i], 8, 32, 1);
        say_pitch("blocks", array, pitch[i], 8, 32, 8);
        say_pitch("bytes", NULL, pitch[i], 8, 16, 8);
        say_pitch("bytes", NULL, pitch[i], 8, 16, 1);
    }
    for (int rows = 0; rows < 10; rows++) {
        say_pitch("words", plane, 64, rows, 16, 8);
        say_pitch("blocks", array, 64, rows, 32, 8);
        say_pitch("blocks", array, 64, rows, 32, 32);
        say_pitch("bytes", NULL, 64, rows, 16, 8);
    }
}

static void places_of_both(void)
{
    static const int at[][2] = {{1, 0}, {2, 1}, {4, 4}, {5, 0}, {8, 2}};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        for (size_t k = 0; k < sizeof at / sizeof *at; k++) {
            struct cudaMemcpy3DParms p;
            memset(&p, 0, sizeof p);
            p.extent = extent(2, 2, 1);
            p.kind = cudaMemcpyDeviceToDevice;
            p.srcPos = (struct cudaPos){(size_t)at[i][0], (size_t)at[i][1], 0};
            p.dstPos = (struct cudaPos){(size_t)at[k][0], (size_t)at[k][1], 0};
            p.srcArray = pixels;
            p.dstArray = array;
            fill(pixels);
            clear(array);
            printf("pixels %d, %d to blocks %d, %d: %d\n", at[i][0], at[i][1], at[k][0], at[k][1],
                   (int)cudaMemcpy3D(&p));
            say_array(array);
            p.srcArray = array;
            p.dstArray = pixels;
            fill(array);
            clear(pixels);
            printf("blocks %d, %d to pixels %d, %d: %d\n", at[i][0], at[i][1], at[k][0], at[k][1],
                   (int)cudaMemcpy3D(&p));
            say_array(pixels);
        }
}

static void more_nodes(void)
{
    cudaGraph_t graph;
    cudaGraphNode_t node;
    SAY(cudaGraphCreate(&graph, 0));
    for (int i = 1; i < 8; i++) {
        struct cudaMemcpy3DParms p = to_array(array, 256, (size_t)i, (size_t)(8 - i)), got;
        p.dstPos = (struct cudaPos){(size_t)i, (size_t)(8 - i), 0};
        p.srcPos = (struct cudaPos){(size_t)i, 1, 0};
        SAY(cudaGraphAddMemcpyNode(&node, graph, NULL, 0, &p));
        memset(&got, 0, sizeof got);
        SAY(cudaGraphMemcpyNodeGetParams(node, &got));
        printf("%d: %zu x %zu x %zu, %zu, %zu to %zu, %zu, pitch %zu, %zu x %zu\n", i,
               got.extent.width, got.extent.height, got.extent.depth, got.srcPos.x, got.srcPos.y,
               got.dstPos.x, got.dstPos.y, got.srcPtr.pitch, got.srcPtr.xsize, got.srcPtr.ysize);
    }
}

void part_rt_box_places(void)
{
    struct cudaChannelFormatDesc d = floats();
    say_begin();
    begin();
    SAY(cudaMallocArray(&plane, &d, 16, 8, 0));
    memory_places();
    more_pitches();
    places_of_both();
    more_nodes();
}
