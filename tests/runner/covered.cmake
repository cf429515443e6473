# Every implemented row and every special register has a case in ptx/ that runs it.
add_executable(covered runner/covered.c)
target_link_libraries(covered PRIVATE ptera_all)
add_test(NAME covered COMMAND covered ${CMAKE_CURRENT_SOURCE_DIR}/ptx)
add_test(NAME covered_words COMMAND covered --words ${CMAKE_CURRENT_SOURCE_DIR}/ptx ${CMAKE_CURRENT_SOURCE_DIR}/hardware/real
         ${CMAKE_SOURCE_DIR}/samples ${golden_data}/golden)
set(golden_folders ${golden_sets} wgmma)
list(TRANSFORM golden_folders PREPEND ${golden_data}/)
add_test(NAME golden_rows COMMAND covered --golden ${golden_folders})
