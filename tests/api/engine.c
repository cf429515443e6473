/* Engines: options, information, result texts, wrong arguments. */
#include "tests/api/support.h"

static void check_info(void)
{
    ptera_engine *engine = new_engine(3);
    ptera_info info = {.size = sizeof info};
    CHECK_INT(ptera_engine_info(engine, &info), PTERA_OK);
    CHECK_TEXT(info.version, ptera_version());
    CHECK_INT(info.size, sizeof info);
    CHECK_INT(info.threads, 3);
    CHECK_INT(info.compute_capability_major, 9);
    CHECK_INT(info.compute_capability_minor, 0);
    CHECK(info.cpu_level && *info.cpu_level);
    CHECK(info.isa_rows > 100 && info.isa_rows_supported <= info.isa_rows);
    unsigned rows = 0, supported = 0;
    ptera_isa_row row = {.size = sizeof row};
    for (; ptera_isa_row_get(rows, &row) == PTERA_OK; rows++) {
        supported += row.is_supported != 0;
        CHECK(row.id && *row.id && row.syntax && *row.syntax && row.chapter && *row.chapter);
        CHECK(row.is_supported == (row.interprets || row.compiles));
        CHECK(row.is_supported || !row.is_golden);
    }
    CHECK_INT(ptera_isa_row_get(rows, &row), PTERA_ERROR_NOT_FOUND);
    CHECK_INT(ptera_isa_row_get(UINT32_MAX, &row), PTERA_ERROR_NOT_FOUND);
    CHECK_INT(rows, info.isa_rows);
    CHECK_INT(supported, info.isa_rows_supported);
    ptera_engine_destroy(engine);
}

static void check_version(void)
{
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", PTERA_VERSION_MAJOR, PTERA_VERSION_MINOR,
             PTERA_VERSION_PATCH);
    CHECK_TEXT(ptera_version(), text);
}

/* A name that a variable of the environment does not have is an error of those who create an
 * engine, not a silent default. */
static void check_environment(void)
{
    static const char *const names[] = {"PTERA_CPU", "PTERA_ENGINE", "PTERA_ASYNC"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *set = getenv(names[i]);
        char *before = set ? strdup(set) : NULL;
        ptera_engine *engine = NULL;
        setenv(names[i], "nonsense", 1);
        CHECK_INT(ptera_engine_create(NULL, &engine), PTERA_ERROR_INVALID_ARGUMENT);
        CHECK(!engine);
        setenv(names[i], "", 1);
        CHECK_INT(ptera_engine_create(NULL, &engine), PTERA_OK);
        ptera_engine_destroy(engine);
        before ? setenv(names[i], before, 1) : unsetenv(names[i]);
        free(before);
    }
}

static void check_wrong_arguments(void)
{
    ptera_engine *engine = NULL;
    ptera_options options;
    ptera_options_init(NULL);
    ptera_options_init(&options);
    CHECK_INT(options.size, sizeof options);
    CHECK_INT(ptera_engine_create(&options, NULL), PTERA_ERROR_INVALID_ARGUMENT);
    options.cpu = "no such level";
    CHECK_INT(ptera_engine_create(&options, &engine), PTERA_ERROR_INVALID_ARGUMENT);
    ptera_options_init(&options);
    options.threads = 4097;
    CHECK_INT(ptera_engine_create(&options, &engine), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK(!engine);
    CHECK_INT(ptera_engine_create(NULL, &engine), PTERA_OK);
    CHECK_TEXT(ptera_engine_error(engine), "");
    CHECK_INT(ptera_engine_info(engine, NULL), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_engine_info(NULL, NULL), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_isa_row_get(0, NULL), PTERA_ERROR_INVALID_ARGUMENT);
    ptera_engine_destroy(engine);
    ptera_engine_destroy(NULL);
    CHECK_TEXT(ptera_engine_error(NULL), "");
}

static void check_result_texts(void)
{
    CHECK_TEXT(ptera_result_text(PTERA_OK), "success");
    CHECK_TEXT(ptera_result_text((ptera_result)999), "unknown result");
    for (int r = PTERA_ERROR_INVALID_ARGUMENT; r <= PTERA_ERROR_NOT_INITIALIZED; r++)
        CHECK(strcmp(ptera_result_text((ptera_result)r), "unknown result") != 0);
    for (int r = PTERA_ERROR_ILLEGAL_ADDRESS; r <= PTERA_ERROR_HOST_FUNCTION; r++)
        CHECK(strcmp(ptera_result_text((ptera_result)r), "unknown result") != 0);
}

int main(void)
{
    check_version();
    check_environment();
    check_info();
    check_wrong_arguments();
    check_result_texts();
    return CHECK_DONE("engine");
}
