# What the auditor of `ptera exec` does in programs.
if(NOT PTERA_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  add_executable(audit_open audit/open.c)
  target_link_libraries(audit_open PRIVATE ${CMAKE_DL_LIBS})
  add_library(audit_library SHARED audit/inside.c)
  add_executable(audit_inside audit/inside.c)
  target_compile_definitions(audit_inside PRIVATE PROGRAM)
  foreach(target audit_library audit_inside)
    target_compile_options(${target} PRIVATE $<$<C_COMPILER_ID:GNU>:-fno-toplevel-reorder>) # clang reorders nothing
    target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
  endforeach()
  target_link_libraries(audit_inside PRIVATE -Wl,--no-as-needed audit_library)
  add_test(NAME audit COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/audit/run.sh $<TARGET_FILE:ptera_tool> $<TARGET_FILE:audit_open>
           $<TARGET_FILE:audit_inside> $<TARGET_FILE:audit_library>)
endif()
