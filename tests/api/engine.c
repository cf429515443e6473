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
    CHECK_INT(rows, info.isa_rows);
    CHECK_INT(supported, info.isa_rows_supported);
    ptera_engine_destroy(engine);
}

/* A program built against an older header gives a smaller struct: only that much is written. */
static void check_sizes(void)
{
    ptera_engine *engine = new_engine(1);
    ptera_info info;
    memset(&info, 0x55, sizeof info);
    info.size = offsetof(ptera_info, threads);
    CHECK_INT(ptera_engine_info(engine, &info), PTERA_OK);
    CHECK_TEXT(info.version, ptera_version());
    CHECK_INT(info.threads, 0x55555555);
    info.size = 0;
    CHECK_INT(ptera_engine_info(engine, &info), PTERA_ERROR_INVALID_ARGUMENT);
    ptera_isa_row row = {
        .size = offsetof(ptera_isa_row, chapter), .chapter = "kept", .is_golden = 5};
    CHECK_INT(ptera_isa_row_get(0, &row), PTERA_OK);
    CHECK(row.id && row.is_supported);
    CHECK_TEXT(row.chapter, "kept");
    CHECK_INT(row.is_golden, 5);
    ptera_options options = {.size = 1};
    ptera_engine *other = NULL;
    CHECK_INT(ptera_engine_create(&options, &other), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK(!other);
    options.size = offsetof(ptera_options, fmad);
    options.threads = 2;
    CHECK_INT(ptera_engine_create(&options, &other), PTERA_OK);
    ptera_engine_destroy(other);
    ptera_engine_destroy(engine);
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
    for (int r = PTERA_ERROR_ILLEGAL_ADDRESS; r <= PTERA_ERROR_TIMEOUT; r++)
        CHECK(strcmp(ptera_result_text((ptera_result)r), "unknown result") != 0);
}

int main(void)
{
    check_info();
    check_sizes();
    check_wrong_arguments();
    check_result_texts();
    return CHECK_DONE("engine");
}
