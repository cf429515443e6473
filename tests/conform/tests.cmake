# `ptera conform`: the suite through Ptera's own driver library, and through one with bugs.
if(NOT CMAKE_CROSSCOMPILING)
  add_library(broken MODULE conform/broken.c)
  set_target_properties(broken PROPERTIES C_VISIBILITY_PRESET default)
  target_link_options(broken PRIVATE -Wl,--no-as-needed) # its other calls are those of the library behind it
  target_link_libraries(broken PRIVATE ptera_cuda ${CMAKE_DL_LIBS})
  add_test(NAME conform_broken COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/conform/broken.sh $<TARGET_FILE:ptera_tool> $<TARGET_FILE:broken>
           ${golden_data} ${CMAKE_CURRENT_SOURCE_DIR}/conform/bugs.tsv)
  add_test(NAME conform_own COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/conform/own.sh $<TARGET_FILE:ptera_tool> ${golden_data})
endif()
foreach(engine interp jit)
  if(engine STREQUAL interp OR PTERA_JIT)
    add_test(NAME conform_full_${engine} COMMAND ${tool} conform --suite ${golden_data} --engine ${engine} --level full)
    set_tests_properties(conform_full_${engine} PROPERTIES LABELS long TIMEOUT 1800)
  endif()
endforeach()

# The suite as a package, for those who have another driver.
add_custom_target(conformance COMMAND ${CMAKE_COMMAND} -DDATA=${golden_data} -DOUT=${CMAKE_BINARY_DIR} -DDOC=${CMAKE_SOURCE_DIR}/docs/conformance.md
                                      -P ${CMAKE_CURRENT_SOURCE_DIR}/conform/package.cmake)
