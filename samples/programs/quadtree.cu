// Recursion on the device: a quadtree of points, each block launching the four quarters of its square, and curves that are tessellated with memory that kernels allocate. nvcc -rdc=true quadtree.cu -lcudadevrt
#include "check.h"
#include <cmath>
#include <vector>

struct Point {
    float x, y;
};

// A square with its points, which lie side by side.
struct Square {
    float x, y, size;
    int from, to, depth;
};

const int capacity = 16, depth_most = 8;

__device__ int n_leaves, n_misplaced;

__device__ int quarter_of(Point p, Square s)
{
    return (p.x >= s.x + s.size / 2) + 2 * (p.y >= s.y + s.size / 2);
}

// Points go from `in` to `out`, quarter by quarter; one level deeper it is the other way round.
__global__ void divide(const Point *in, Point *out, Square s)
{
    __shared__ int count[4], at[4];
    int n = s.to - s.from;
    if (threadIdx.x < 4)
        count[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        Point p = in[s.from + i];
        if (p.x < s.x || p.x >= s.x + s.size || p.y < s.y || p.y >= s.y + s.size)
            atomicAdd(&n_misplaced, 1);
        atomicAdd(&count[quarter_of(p, s)], 1);
    }
    __syncthreads();
    if (n <= capacity || s.depth == depth_most) {
        if (threadIdx.x == 0)
            atomicAdd(&n_leaves, 1);
        return;
    }
    if (threadIdx.x == 0)
        for (int q = 0, sum = s.from; q < 4; sum += count[q++])
            at[q] = sum;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        Point p = in[s.from + i];
        out[atomicAdd(&at[quarter_of(p, s)], 1)] = p;
    }
    __syncthreads(); // what the block wrote is there for its children
    if (threadIdx.x < 4 && count[threadIdx.x]) {
        int q = threadIdx.x;
        float half = s.size / 2;
        divide<<<1, blockDim.x>>>(out, (Point *)in,
                                  Square{s.x + half * (q % 2), s.y + half * (q / 2), half, at[q] - count[q], at[q], s.depth + 1});
    }
}

static int count_leaves(std::vector<Point> points, Square s)
{
    if ((int)points.size() <= capacity || s.depth == depth_most)
        return 1;
    int n = 0;
    float half = s.size / 2;
    for (int q = 0; q < 4; q++) {
        std::vector<Point> inside;
        for (Point p : points)
            if ((p.x >= s.x + half) + 2 * (p.y >= s.y + half) == q)
                inside.push_back(p);
        if (!inside.empty())
            n += count_leaves(inside, Square{s.x + half * (q % 2), s.y + half * (q / 2), half, 0, 0, s.depth + 1});
    }
    return n;
}

// Quadratic Bezier curves: the more a curve bends, the more points it is given.
struct Curve {
    Point control[3], *points;
    int n;
};

__global__ void tessellate_one(Curve *c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= c->n)
        return;
    float t = i / (float)(c->n - 1), a = (1 - t) * (1 - t), b = 2 * t * (1 - t), d = t * t;
    c->points[i] = Point{a * c->control[0].x + b * c->control[1].x + d * c->control[2].x,
                         a * c->control[0].y + b * c->control[1].y + d * c->control[2].y};
}

__global__ void tessellate(Curve *curves, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Curve *c = &curves[i];
    float bend = fabsf((c->control[0].x + c->control[2].x) / 2 - c->control[1].x) + fabsf((c->control[0].y + c->control[2].y) / 2 - c->control[1].y);
    c->n = min(max((int)(bend * 16), 4), 64);
    if (cudaMalloc(&c->points, c->n * sizeof(Point)) != cudaSuccess)
        return;
    tessellate_one<<<(c->n + 31) / 32, 32>>>(c);
}

// How long each curve is; the points are given back.
__global__ void measure(Curve *curves, int n, float *length)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    length[i] = 0;
    for (int k = 1; k < curves[i].n; k++)
        length[i] += hypotf(curves[i].points[k].x - curves[i].points[k - 1].x, curves[i].points[k].y - curves[i].points[k - 1].y);
    cudaFree(curves[i].points);
}

int main()
{
    const int n = 2000, n_curves = 40;
    std::vector<Point> points(n);
    unsigned state = 7;
    for (Point &p : points)
        for (float *v : {&p.x, &p.y}) {
            float u = ((state = state * 1664525 + 1013904223) >> 8) / 16777216.f;
            *v = u * u; // more of them in a corner
        }
    Point *in, *out;
    CUDA(cudaMalloc(&in, n * sizeof(Point)));
    CUDA(cudaMalloc(&out, n * sizeof(Point)));
    CUDA(cudaMemcpy(in, points.data(), n * sizeof(Point), cudaMemcpyHostToDevice));
    divide<<<1, 64>>>(in, out, Square{0, 0, 1, 0, n, 0});
    int leaves, misplaced;
    CUDA(cudaMemcpyFromSymbol(&leaves, n_leaves, sizeof leaves));
    CUDA(cudaMemcpyFromSymbol(&misplaced, n_misplaced, sizeof misplaced));
    EXPECT(misplaced == 0);
    EXPECT(leaves == count_leaves(points, Square{0, 0, 1, 0, n, 0}));

    std::vector<Curve> curves(n_curves);
    for (int i = 0; i < n_curves; i++)
        curves[i] = Curve{{{0, 0}, {1, i * .1f}, {2, 0}}, NULL, 0};
    Curve *dc;
    float *dl, length[n_curves];
    CUDA(cudaMalloc(&dc, n_curves * sizeof(Curve)));
    CUDA(cudaMalloc(&dl, sizeof length));
    CUDA(cudaMemcpy(dc, curves.data(), n_curves * sizeof(Curve), cudaMemcpyHostToDevice));
    tessellate<<<2, 32>>>(dc, n_curves);
    measure<<<2, 32>>>(dc, n_curves, dl); // behind all that the kernel before it launched
    CUDA(cudaMemcpy(length, dl, sizeof length, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n_curves; i++) {
        double exact = 0, h = i * .1; // the integral of the speed
        for (int k = 0; k < 10000; k++)
            exact += hypot(2., 2 * h * (1 - 2 * (k + .5) / 10000)) / 10000;
        EXPECT(fabs(length[i] - exact) < .03 * exact);
    }
    for (void *p : {(void *)in, (void *)out, (void *)dc, (void *)dl})
        CUDA(cudaFree(p));
    return passed();
}
