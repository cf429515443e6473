/* Stands for NVIDIA's closed libraries where only their names matter. */
int cublasCreate_v2(void **handle);
int cublasDestroy_v2(void *handle);
int cufftPlan1d(int *plan, int n, int type, int batch);
int cufftExecC2C(int plan, void *in, void *out, int direction);

enum { NOT_INITIALIZED = 1 };

int cublasCreate_v2(void **handle)
{
    *handle = 0;
    return NOT_INITIALIZED;
}

int cublasDestroy_v2(void *handle)
{
    (void)handle;
    return NOT_INITIALIZED;
}

int cufftPlan1d(int *plan, int n, int type, int batch)
{
    (void)plan, (void)n, (void)type, (void)batch;
    return NOT_INITIALIZED;
}

int cufftExecC2C(int plan, void *in, void *out, int direction)
{
    (void)plan, (void)in, (void)out, (void)direction;
    return NOT_INITIALIZED;
}
