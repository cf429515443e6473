/* Messages about errors: callbacks, and what is kept of them. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/cuda/support.h"

static unsigned n_called;
static char last[1024];

static void note(void *ud, CUlogLevel level, char *message, size_t length)
{
    CHECK(ud == &n_called && level == CU_LOG_LEVEL_ERROR && length < sizeof last);
    n_called++;
    memcpy(last, message, length);
    last[length] = 0;
}

static void fail(void)
{
    CHECK_CU(cuMemAlloc_v2(NULL, 4), CUDA_ERROR_INVALID_VALUE);
}

static void check_callbacks(void)
{
    CUlogsCallbackHandle handle = NULL;
    CHECK_CU(cuLogsRegisterCallback(NULL, NULL, &handle), CUDA_ERROR_INVALID_VALUE);
    OK(cuLogsRegisterCallback(note, &n_called, &handle));
    fail();
    CHECK_INT(n_called, 1);
    CHECK(strstr(last, "1 (CUDA_ERROR_INVALID_VALUE) from cuMemAlloc_v2") != NULL);
    OK(cuLogsUnregisterCallback(handle));
    CHECK_CU(cuLogsUnregisterCallback(handle), CUDA_ERROR_INVALID_VALUE);
    fail();
    CHECK_INT(n_called, 1);
}

static void check_dumps(void)
{
    CUlogIterator begin, end;
    char text[26000];
    size_t n = sizeof text;
    OK(cuLogsCurrent(&begin, 0));
    end = begin;
    fail();
    fail();
    OK(cuLogsDumpToMemory(&end, text, &n, 0));
    CHECK(n == strlen(text) && end == begin + 2);
    char *newline = strchr(text, '\n');
    CHECK(newline && newline[1] && strstr(newline, "cuMemAlloc_v2"));
    n = sizeof text;
    OK(cuLogsDumpToMemory(&end, text, &n, 0)); /* nothing new */
    CHECK(n == 0 && !*text);
    n = 4;
    CHECK_CU(cuLogsDumpToMemory(&begin, text, &n, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(n, 0);
    CHECK_CU(cuLogsDumpToMemory(&begin, text, &n, 1), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuLogsDumpToMemory(&begin, NULL, &n, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuLogsCurrent(NULL, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuLogsCurrent(&end, 1), CUDA_ERROR_INVALID_VALUE);
    for (int i = 0; i < 1000; i++)
        cuMemAlloc_v2(NULL, 4);
    n = sizeof text;
    OK(cuLogsDumpToMemory(&begin, text, &n, 0)); /* the last ones, and that there were more */
    CHECK(n > 10000 && n <= 26000 && strchr(text, '\n'));
}

static void check_files(void)
{
    char path[] = "/tmp/ptera-logs-XXXXXX", line[1024];
    CUlogIterator at;
    close(mkstemp(path));
    OK(cuLogsCurrent(&at, 0));
    fail();
    OK(cuLogsDumpToFile(&at, path, 0));
    FILE *file = fopen(path, "r");
    CHECK(fgets(line, sizeof line, file) && strstr(line, "cuMemAlloc_v2"));
    CHECK(!fgets(line, sizeof line, file));
    fclose(file);
    unlink(path);
    CHECK_CU(cuLogsDumpToFile(&at, "/nosuch/folder/log", 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuLogsDumpToFile(&at, NULL, 0), CUDA_ERROR_INVALID_VALUE);
}

int main(void)
{
    CUcontext ctx = begin();
    check_callbacks();
    check_dumps();
    check_files();
    OK(cuCtxDestroy_v2(ctx));
    return CHECK_DONE("cuda_logs");
}
