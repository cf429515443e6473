# The reports of `ptera profile`.
add_test(NAME profile_reports COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/profile/reports.sh ${CMAKE_SOURCE_DIR}
         $<TARGET_FILE:profile_launch> ${tool})
if(PTERA_JIT)
  add_test(NAME profile_coverage COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/profile/coverage.sh ${CMAKE_SOURCE_DIR}
           $<TARGET_FILE:profile_launch> ${tool})
endif()
if(Python3_EXECUTABLE)
  find_path(PTERA_NVTX nvtx3/nvToolsExt.h HINTS /usr/local/cuda/include)
  add_executable(profile_ranges profile/ranges.c)
  target_link_libraries(profile_ranges PRIVATE ptera_cuda ${CMAKE_DL_LIBS})
  if(PTERA_NVTX)
    target_include_directories(profile_ranges SYSTEM PRIVATE ${PTERA_NVTX})
  endif()
  add_test(NAME profile_trace COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/profile/trace.sh ${CMAKE_SOURCE_DIR}
           ${CMAKE_CURRENT_BINARY_DIR} ${tool})
endif()
# Preloaded, libraries with the thread sanitizer do not fit into a program that links it.
if(PTERA_SANITIZE MATCHES "thread")
  foreach(test profile_reports profile_coverage profile_trace)
    if(TEST ${test})
      set_tests_properties(${test} PROPERTIES LABELS release-only)
    endif()
  endforeach()
endif()
