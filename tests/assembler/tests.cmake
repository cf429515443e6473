# The stand-in for NVIDIA's assembler, and beside it that where it is.
if(NOT PTERA_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  find_program(PTERA_PTXAS ptxas HINTS /usr/local/cuda/bin)
  add_executable(ptxas_load assembler/ptxas/load.c)
  target_link_libraries(ptxas_load PRIVATE ptera_cuda)
  add_test(NAME ptxas COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/assembler/ptxas/run.sh $<TARGET_FILE:ptera_tool> $<TARGET_FILE:ptxas_load>
           $<$<BOOL:${PTERA_PTXAS}>:${PTERA_PTXAS}>)
endif()

# The instruction table against what NVIDIA's assembler accepts and refuses.
add_executable(isa_table assembler/isa/isa.c assembler/isa/forms.c)
target_link_libraries(isa_table PRIVATE ptera_all)
add_test(NAME isa_forms COMMAND isa_table forms ${CMAKE_CURRENT_SOURCE_DIR}/assembler/isa/forms.tsv 16)
add_test(NAME isa_all COMMAND isa_table all ${CMAKE_CURRENT_SOURCE_DIR}/assembler/isa/forms.tsv)
set_tests_properties(isa_all PROPERTIES LABELS long TIMEOUT 3600)
add_test(NAME isa_mutations COMMAND isa_table mutations ${CMAKE_CURRENT_SOURCE_DIR}/assembler/isa/mutations.tsv)
add_executable(isa_launch assembler/isa/launch.c assembler/isa/forms.c)
target_link_libraries(isa_launch PRIVATE ptera_all)
add_test(NAME isa_launch COMMAND isa_launch ${CMAKE_CURRENT_SOURCE_DIR}/assembler/isa/forms.tsv 500 --today)
add_test(NAME isa_launch_all COMMAND isa_launch ${CMAKE_CURRENT_SOURCE_DIR}/assembler/isa/forms.tsv 1)
set_tests_properties(isa_launch_all PROPERTIES LABELS long TIMEOUT 7200)
if(PTERA_JIT)
  add_dependencies(isa_launch ptera_jit ptera_compiler)
  set_tests_properties(isa_launch isa_launch_all PROPERTIES
                       ENVIRONMENT "PTERA_JIT_PATH=$<TARGET_FILE:ptera_jit>;PTERA_CACHE=")
endif()

# Registers as NVIDIA's assembler counts them.
set(registers_archive ${CMAKE_CURRENT_SOURCE_DIR}/assembler/registers/kernels.tar.xz)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${registers_archive})
file(ARCHIVE_EXTRACT INPUT ${registers_archive} DESTINATION ${CMAKE_CURRENT_BINARY_DIR}/registers.data)
add_executable(registers assembler/registers/registers.c)
target_link_libraries(registers PRIVATE ptera_all m Threads::Threads)
add_test(NAME registers COMMAND registers ${CMAKE_CURRENT_BINARY_DIR}/registers.data)
