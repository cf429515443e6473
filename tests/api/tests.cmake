# Programs over the public API: one file a noun.
file(GLOB api_tests CONFIGURE_DEPENDS api/*.c)
foreach(source ${api_tests})
  get_filename_component(name ${source} NAME_WE)
  add_executable(api_${name} ${source})
  target_link_libraries(api_${name} PRIVATE ptera m Threads::Threads)
  target_compile_definitions(api_${name} PRIVATE SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  add_test(NAME api_${name} COMMAND api_${name})
endforeach()
# The thread sanitizer ends children that start threads, and gives handlers masks of its own.
if(PTERA_SANITIZE MATCHES "thread")
  set_tests_properties(api_fork api_signal PROPERTIES LABELS release-only)
endif()
