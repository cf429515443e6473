# The labelled set of `ptera check`.
add_executable(check_labelled check/labelled.c)
target_link_libraries(check_labelled PRIVATE ptera)
add_test(NAME check_labelled COMMAND check_labelled ${CMAKE_CURRENT_SOURCE_DIR}/check ${tool})
# What the checker of races remembers stays within its bound.
add_executable(check_memory check/memory.c)
target_link_libraries(check_memory PRIVATE ptera)
add_test(NAME check_memory COMMAND check_memory)
# The right ones under all checkers.
add_test(NAME check_twins COMMAND check_labelled --all ${CMAKE_CURRENT_SOURCE_DIR}/check ${tool})
set_tests_properties(check_twins PROPERTIES LABELS long)
add_test(NAME check_formats COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check/formats.sh ${CMAKE_SOURCE_DIR}
         $<TARGET_FILE:cuda_check> ${tool})
# Preloaded, libraries with the thread sanitizer do not fit into a program that links it.
if(PTERA_SANITIZE MATCHES "thread")
  set_tests_properties(check_formats PROPERTIES LABELS release-only)
endif()

# Kernels in which there is nothing to find, under all checkers; their results stay what they are without.
file(GLOB bench_sets CONFIGURE_DEPENDS bench/second_*.c bench/textures.c)
add_executable(check_bench check/bench.c bench/case.c bench/add.c bench/limits.c bench/first_set.c ${bench_sets})
target_compile_definitions(check_bench PRIVATE KERNELS="${CMAKE_CURRENT_SOURCE_DIR}/bench/kernels")
target_link_libraries(check_bench PRIVATE ptera m)
set(every_bench 6)
set(some_random 50)
if(is_slow)
  set(every_bench 30)
  set(some_random 10)
endif()
add_test(NAME check_bench COMMAND check_bench --every ${every_bench})
add_test(NAME check_bench_all COMMAND check_bench)
add_test(NAME check_bench_order COMMAND check_bench --order)
add_test(NAME check_random COMMAND ${tool} fuzz --check --engine interp --count ${some_random} --out ${CMAKE_CURRENT_BINARY_DIR})
add_test(NAME check_random_all COMMAND ${tool} fuzz --check --engine interp --count 10000 --out ${CMAKE_CURRENT_BINARY_DIR})
set_tests_properties(check_bench_all check_bench_order check_random_all PROPERTIES LABELS long TIMEOUT 3600)
set_tests_properties(check_bench check_bench_all check_bench_order PROPERTIES ENVIRONMENT PTERA_KNOWN=${CMAKE_CURRENT_SOURCE_DIR}/check/known.txt)

# Mutants of correct kernels: each is found, or known to be none.
if(Python3_EXECUTABLE AND NOT is_slow)
  set(mutants ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/check/mutants/mutants.py ${tool} ${CMAKE_SOURCE_DIR})
  add_test(NAME check_mutants COMMAND ${mutants} --every 48)
  add_test(NAME check_mutants_all COMMAND ${mutants} --table)
  set_tests_properties(check_mutants_all PROPERTIES LABELS long TIMEOUT 7200)
endif()
