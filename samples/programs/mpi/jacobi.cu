// Jacobi's method for Laplace's equation on a square, in strips of rows, one for each rank of MPI
// and its device. The rows at the strips' edges go from device to device by MPI, which is given
// device pointers.
//
//     nvcc -arch=sm_90 -ccbin mpicxx jacobi.cu -o jacobi
//     PTERA_DEVICES=4 ptera exec mpirun -n 4 ./jacobi
//
// Rank 0 prints the largest change of the last step and a hash of the field, which are the same for any
// number of ranks.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mpi.h>
#include <vector>

enum { SIZE = 258, INNER = SIZE - 2, STEPS = 100 };

#define CHECK(call)                                                        \
    do {                                                                   \
        cudaError_t error = (call);                                        \
        if (error != cudaSuccess) {                                        \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error)); \
            MPI_Abort(MPI_COMM_WORLD, 1);                                  \
        }                                                                  \
    } while (0)

// One step for the rows 1 to `rows` of a strip; the rows around it are its neighbours' or the edge.
__global__ void step(const float *from, float *to, int rows, unsigned *change)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x + 1,
        y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (x > INNER || y > rows)
        return;
    const float *p = from + y * SIZE + x;
    float next = 0.25f * (p[-1] + p[1] + p[-SIZE] + p[SIZE]);
    to[y * SIZE + x] = next;
    // floats of one sign are in the order of their bits
    atomicMax(change, __float_as_uint(fabsf(next - *p)));
}

// The square's upper edge is hot; the strip begins with the row before its first.
static std::vector<float> strip_of(int first_row, int rows)
{
    std::vector<float> strip((rows + 2) * SIZE, 0.0f);
    for (int x = 0; first_row == 1 && x < SIZE; x++)
        strip[x] = 1.0f + x / 64.0f;
    return strip;
}

static void exchange(float *strip, int rows, int rank, int n)
{
    int up = rank > 0 ? rank - 1 : MPI_PROC_NULL, down = rank + 1 < n ? rank + 1 : MPI_PROC_NULL;
    MPI_Sendrecv(strip + SIZE, SIZE, MPI_FLOAT, up, 0, strip + (rows + 1) * SIZE, SIZE, MPI_FLOAT,
                 down, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(strip + rows * SIZE, SIZE, MPI_FLOAT, down, 1, strip, SIZE, MPI_FLOAT, up, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// The inner rows of all ranks, in order, at rank 0.
static unsigned long long hash_of(const float *strip, int rows, int n)
{
    unsigned long long hash = 1469598103934665603ull;
    std::vector<unsigned> all(INNER * SIZE);
    std::vector<int> counts(n), places(n);
    int mine = rows * SIZE;
    MPI_Gather(&mine, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 1; i < n; i++)
        places[i] = places[i - 1] + counts[i - 1];
    MPI_Gatherv(strip + SIZE, mine, MPI_UNSIGNED, all.data(), counts.data(), places.data(),
                MPI_UNSIGNED, 0, MPI_COMM_WORLD);
    for (unsigned word : all)
        hash = (hash ^ word) * 1099511628211ull;
    return hash;
}

int main(int argc, char **argv)
{
    int rank, n, devices, used = -1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    CHECK(cudaGetDeviceCount(&devices));
    CHECK(cudaSetDevice(rank % devices));
    CHECK(cudaGetDevice(&used));

    int first = 1 + INNER * rank / n, rows = 1 + INNER * (rank + 1) / n - first;
    std::vector<float> start = strip_of(first, rows);
    size_t bytes = start.size() * sizeof(float);
    float *field[2];
    unsigned *change, largest = 0;
    for (float *&f : field) {
        CHECK(cudaMalloc(&f, bytes));
        CHECK(cudaMemcpy(f, start.data(), bytes, cudaMemcpyHostToDevice));
    }
    CHECK(cudaMalloc(&change, sizeof *change));

    dim3 block(32, 8), grid((INNER + 31) / 32, (rows + 7) / 8);
    for (int i = 0; i < STEPS; i++) {
        CHECK(cudaMemset(change, 0, sizeof *change));
        step<<<grid, block>>>(field[i % 2], field[(i + 1) % 2], rows, change);
        CHECK(cudaDeviceSynchronize());
        exchange(field[(i + 1) % 2], rows, rank, n);
        MPI_Allreduce(change, &largest, 1, MPI_UNSIGNED, MPI_MAX, MPI_COMM_WORLD);
    }
    unsigned long long hash = hash_of(field[STEPS % 2], rows, n);
    float last;
    memcpy(&last, &largest, sizeof last);
    fprintf(stderr, "rank %d of %d on device %d\n", rank, n, used);
    if (rank == 0)
        printf("change %.9g, field %016llx\n", (double)last, hash);
    MPI_Finalize();
    return 0;
}
