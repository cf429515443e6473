# `ptera conform`: the suite through Ptera's own driver library, and through one with bugs.
add_executable(isa_suite assembler/isa/suite.c assembler/isa/forms.c)
target_link_libraries(isa_suite PRIVATE ptera_all)
# What is written as a set of it: from tables of the tests.
set(forms ${CMAKE_CURRENT_SOURCE_DIR}/assembler/isa/forms.tsv)
file(MAKE_DIRECTORY ${golden_data}/assembler ${golden_data}/litmus)
add_custom_command(OUTPUT ${golden_data}/assembler/index.tsv COMMAND isa_suite ${forms} ${golden_data}/assembler DEPENDS isa_suite ${forms})
add_custom_command(OUTPUT ${golden_data}/litmus/index.tsv COMMAND litmus --suite ${golden_data}/litmus DEPENDS litmus)
add_custom_target(conform_sets ALL DEPENDS ${golden_data}/assembler/index.tsv ${golden_data}/litmus/index.tsv)
file(GLOB functions RELATIVE ${golden_data}/mufu ${golden_data}/mufu/*.hash)
list(TRANSFORM functions REPLACE "\\.hash$" "\n")
string(CONCAT functions ${functions})
file(WRITE ${golden_data}/mufu/index.tsv "${functions}")
file(GLOB launches ${golden_data}/triton/*/case)
list(TRANSFORM launches REPLACE ".*/([^/]+)/case$" "\\1\n")
string(CONCAT launches ${launches})
file(WRITE ${golden_data}/triton/index.tsv "${launches}")

if(NOT CMAKE_CROSSCOMPILING)
  add_library(broken MODULE conform/broken.c)
  set_target_properties(broken PROPERTIES C_VISIBILITY_PRESET default)
  target_link_options(broken PRIVATE -Wl,--no-as-needed) # its other calls are those of the library behind it
  target_link_libraries(broken PRIVATE ptera_cuda ${CMAKE_DL_LIBS})
  add_test(NAME conform_broken COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/conform/broken.sh $<TARGET_FILE:ptera_tool> $<TARGET_FILE:broken>
           ${golden_data} ${CMAKE_CURRENT_SOURCE_DIR}/conform/bugs.tsv)
  add_test(NAME conform_broken_all COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/conform/broken.sh $<TARGET_FILE:ptera_tool> $<TARGET_FILE:broken>
           ${golden_data} ${CMAKE_CURRENT_SOURCE_DIR}/conform/bugs.tsv hang)
  set_tests_properties(conform_broken_all PROPERTIES LABELS long)
  find_package(Python3 COMPONENTS Interpreter)
  if(Python3_FOUND AND PTERA_JIT)
    add_test(NAME conform_seeded COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/conform/seeded.py test ${CMAKE_SOURCE_DIR}
             ${golden_data} ${CMAKE_CURRENT_SOURCE_DIR}/conform/seeded.tsv)
    set_tests_properties(conform_seeded PROPERTIES LABELS long TIMEOUT 7200)
  endif()
  add_test(NAME conform_own COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/conform/own.sh $<TARGET_FILE:ptera_tool> ${golden_data})
endif()
foreach(engine interp jit)
  if(engine STREQUAL interp OR PTERA_JIT)
    add_test(NAME conform_full_${engine} COMMAND ${tool} conform --suite ${golden_data} --engine ${engine} --level full)
    set_tests_properties(conform_full_${engine} PROPERTIES LABELS long TIMEOUT 1800)
  endif()
endforeach()

# The suite as a package, for those who have another driver.
add_custom_target(conformance DEPENDS conform_sets COMMAND ${CMAKE_COMMAND} -DDATA=${golden_data} -DOUT=${CMAKE_BINARY_DIR} -DDOC=${CMAKE_SOURCE_DIR}/docs/conformance.md
                                      -P ${CMAKE_CURRENT_SOURCE_DIR}/conform/package.cmake)
