# The labelled set of `ptera check`.
add_executable(check_labelled check/labelled.c)
target_link_libraries(check_labelled PRIVATE ptera)
add_test(NAME check_labelled COMMAND check_labelled ${CMAKE_CURRENT_SOURCE_DIR}/check ${tool})
add_test(NAME check_formats COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check/formats.sh ${CMAKE_SOURCE_DIR}
         $<TARGET_FILE:cuda_check> ${tool})
# Preloaded, libraries with the thread sanitizer do not fit into a program that links it.
if(PTERA_SANITIZE MATCHES "thread")
  set_tests_properties(check_formats PROPERTIES LABELS release-only)
endif()
