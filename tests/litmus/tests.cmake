# The memory model: no forbidden outcome among many rounds on several workers.
add_executable(litmus litmus/litmus.c litmus/ptx.c litmus/host.c ${CMAKE_SOURCE_DIR}/tools/conform/outcome.c)
target_link_libraries(litmus PRIVATE ptera Threads::Threads)
set(litmus_rounds 10000)
if(is_slow)
  set(litmus_rounds 300)
endif()
add_test(NAME litmus COMMAND litmus ${litmus_rounds})
add_test(NAME litmus_long COMMAND litmus 1000000)
set_tests_properties(litmus_long PROPERTIES LABELS long TIMEOUT 7200)

# The table of the model gives the verdicts that are published.
add_test(NAME litmus_papers COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/litmus/papers.sh ${CMAKE_CURRENT_SOURCE_DIR}/litmus/papers.tsv ${tool})
