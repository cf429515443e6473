# Mutants of test and sample kernels: others each day. Those that failed once stay.
file(GLOB mutate_sources CONFIGURE_DEPENDS mutate/*.c)
add_executable(mutants ${mutate_sources} ../tools/fuzz/pen.c ../tools/fuzz/random.c)
target_link_libraries(mutants PRIVATE ptera)
if(NOT CMAKE_CROSSCOMPILING)
  set(mutants_of ${CMAKE_CURRENT_SOURCE_DIR}/ptx ${CMAKE_CURRENT_SOURCE_DIR}/jit/cases ${CMAKE_CURRENT_SOURCE_DIR}/hardware/real
      ${CMAKE_SOURCE_DIR}/samples)
  set(mutants_today --count 2000 --native 1) # one in a hundred is too dear for that, and would wait longer
  if(is_slow)
    set(mutants_today --count 50)
  endif()
  add_test(NAME mutants COMMAND mutants --today ${mutants_today} --out ${CMAKE_CURRENT_BINARY_DIR} ${mutants_of})
  add_test(NAME mutants_long COMMAND mutants --today --count 100000 --out ${CMAKE_CURRENT_BINARY_DIR} ${mutants_of})
  add_test(NAME mutants_found COMMAND mutants --replay --late 1 ${CMAKE_CURRENT_SOURCE_DIR}/mutate/found)
  set_tests_properties(mutants PROPERTIES COST 1000) # one process for minutes: it starts first
  set_tests_properties(mutants_long PROPERTIES LABELS long TIMEOUT 43200)
endif()
