# The interpreter's micro-benchmarks, and the set of kernels that is compared with peers. None of it is built by default.

add_executable(bench EXCLUDE_FROM_ALL bench/bench.c bench/families.c bench/growth.c bench/timing.c)
target_link_libraries(bench PRIVATE ptera)
add_dependencies(bench ptera_tool)

add_executable(bench_matrix EXCLUDE_FROM_ALL bench/matrix.c bench/timing.c)
target_link_libraries(bench_matrix PRIVATE ptera ${CMAKE_DL_LIBS})
if(TARGET ptera_jit)
  add_dependencies(bench_matrix ptera_jit)
endif()

add_executable(bench_stop EXCLUDE_FROM_ALL bench/stop.c bench/timing.c)
target_link_libraries(bench_stop PRIVATE ptera)
add_dependencies(bench_stop ptera_tool)

add_executable(bench_driver EXCLUDE_FROM_ALL bench/driver.c bench/timing.c)
target_link_libraries(bench_driver PRIVATE ptera_cuda)

set(bench_folder ${CMAKE_CURRENT_SOURCE_DIR}/bench)
set(bench_peers ${CMAKE_CURRENT_BINARY_DIR}/peers)
file(GLOB bench_sets CONFIGURE_DEPENDS bench/second_*.c bench/textures.c)
add_executable(compare EXCLUDE_FROM_ALL bench/compare.c bench/plan.c bench/report.c bench/first.c bench/once.c
               bench/means.c bench/worker.c bench/ptera_runner.c bench/case.c bench/add.c bench/limits.c bench/first_set.c ${bench_sets} bench/digest.c bench/timing.c bench/scratch.c)
target_link_libraries(compare PRIVATE ptera m ${CMAKE_DL_LIBS})
if(TARGET ptera_jit)
  add_dependencies(compare ptera_jit)
endif()

add_executable(bench_start EXCLUDE_FROM_ALL bench/start.c bench/case.c bench/add.c bench/limits.c bench/first_set.c ${bench_sets}
               bench/timing.c bench/scratch.c)
target_link_libraries(bench_start PRIVATE ptera m)
target_compile_definitions(bench_start PRIVATE KERNELS="${bench_folder}/kernels")
add_dependencies(bench_start ptera_tool)

set(bench_levels) # `compare --cpu`
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(bench_levels v2 v3 v4)
endif()
list(JOIN bench_levels "\", \"" bench_level_names)
target_compile_definitions(compare PRIVATE KERNELS="${bench_folder}/kernels" PEERS="${bench_peers}"
                                           LEVELS="${bench_level_names}")

# Peers are built by the compilers and flags their own users would take, whatever builds Ptera, and only where they are found.
function(add_peer name)
  cmake_parse_arguments(arg "" "" "COMMAND;SOURCES;LIBRARIES" ${ARGN})
  add_custom_command(
    OUTPUT ${bench_peers}/${name}.so
    COMMAND ${CMAKE_COMMAND} -E make_directory ${bench_peers}
    COMMAND ${arg_COMMAND} -shared -fPIC -I${CMAKE_SOURCE_DIR} ${arg_SOURCES}
            ${arg_LIBRARIES} -o ${bench_peers}/${name}.so
    DEPENDS ${arg_SOURCES} ${bench_folder}/case.h ${bench_folder}/runner.h
            ${bench_folder}/kernels/vector.h ${bench_folder}/kernels/textures/sample.h
    COMMENT "Building the peer ${name}"
    VERBATIM)
  add_custom_target(peer_${name} DEPENDS ${bench_peers}/${name}.so)
  add_dependencies(compare peer_${name})
endfunction()

file(GLOB bench_twins CONFIGURE_DEPENDS bench/kernels/*.c bench/kernels/*/*.c)
set(twin_flags -O3 -fopenmp -fno-math-errno -fno-trapping-math -std=gnu17 -Wall -Wextra)

# The twins for the machine they are built on, and for each level.
function(add_twins name)
  add_peer(${name} COMMAND ${ARGN} ${twin_flags} -march=native SOURCES ${bench_folder}/openmp_runner.c ${bench_twins}
           LIBRARIES -lm)
  foreach(level ${bench_levels})
    add_peer(${name}-${level} COMMAND ${ARGN} ${twin_flags} -march=x86-64-${level}
             SOURCES ${bench_folder}/openmp_runner.c ${bench_twins} LIBRARIES -lm)
  endforeach()
endfunction()

find_program(BENCH_GCC NAMES gcc)
if(BENCH_GCC)
  add_twins(openmp-gcc ${BENCH_GCC})
endif()

find_program(BENCH_CLANG NAMES clang-19)
find_library(BENCH_LIBOMP NAMES omp PATHS /usr/lib/llvm-19/lib NO_DEFAULT_PATH)
if(BENCH_CLANG AND BENCH_LIBOMP)
  add_twins(openmp-clang ${BENCH_CLANG} -fveclib=libmvec)
endif()

find_path(BENCH_OPENCL_HEADERS NAMES CL/cl.h)
find_library(BENCH_OPENCL NAMES OpenCL)
if(BENCH_OPENCL_HEADERS AND BENCH_OPENCL)
  add_peer(pocl COMMAND ${CMAKE_C_COMPILER} -O2 -fvisibility=hidden -Wall -Wextra SOURCES ${bench_folder}/opencl_runner.c
           LIBRARIES ${BENCH_OPENCL})
endif()

find_program(BENCH_ISPC NAMES ispc)
if(BENCH_ISPC AND BENCH_GCC)
  execute_process(COMMAND ${BENCH_ISPC} --version OUTPUT_VARIABLE ispc_version OUTPUT_STRIP_TRAILING_WHITESPACE)
  file(GLOB ispc_sources CONFIGURE_DEPENDS bench/kernels/*.ispc)
  foreach(source ${ispc_sources})
    get_filename_component(name ${source} NAME_WE)
    add_custom_command(OUTPUT ${bench_peers}/${name}.o
                       COMMAND ${CMAKE_COMMAND} -E make_directory ${bench_peers}
                       COMMAND ${BENCH_ISPC} -O3 --pic ${source} -o ${bench_peers}/${name}.o
                       DEPENDS ${source} VERBATIM)
    list(APPEND ispc_objects ${bench_peers}/${name}.o)
  endforeach()
  add_peer(ispc COMMAND ${BENCH_GCC} -fvisibility=hidden ${twin_flags} -march=native "-DISPC_VERSION=\"${ispc_version}\""
           SOURCES ${bench_folder}/ispc_runner.c ${ispc_objects})
endif()
