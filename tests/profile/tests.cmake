# The reports of `ptera profile`.
add_test(NAME profile_reports COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/profile/reports.sh ${CMAKE_SOURCE_DIR}
         $<TARGET_FILE:profile_launch> ${tool})
# Preloaded, libraries with the thread sanitizer do not fit into a program that links it.
if(PTERA_SANITIZE MATCHES "thread")
  set_tests_properties(profile_reports PROPERTIES LABELS release-only)
endif()
if(Python3_EXECUTABLE)
  add_test(NAME profile_trace COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/profile/trace.sh ${CMAKE_SOURCE_DIR}
           ${CMAKE_CURRENT_BINARY_DIR} ${tool})
endif()
