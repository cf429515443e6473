# Unit tests over internals.
set(object_sources loader.c object.c line_table.c support.c frontier.c) # of the compiler: what loads objects, and knows nothing of LLVM
list(TRANSFORM object_sources PREPEND ${CMAKE_SOURCE_DIR}/backend/jit/object/)
file(GLOB unit_tests CONFIGURE_DEPENDS unit/*.c)
foreach(source ${unit_tests})
  get_filename_component(name ${source} NAME_WE)
  add_executable(unit_${name} ${source})
  target_link_libraries(unit_${name} PRIVATE ptera_all)
  target_compile_definitions(unit_${name} PRIVATE SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  add_test(NAME unit_${name} COMMAND unit_${name})
endforeach()

target_sources(unit_object PRIVATE ${object_sources})
target_sources(unit_observe PRIVATE $<TARGET_OBJECTS:ptera_cuda>) # whose copies are observed, too
target_sources(unit_audit PRIVATE ${CMAKE_SOURCE_DIR}/tools/audit/layout.c ${CMAKE_SOURCE_DIR}/tools/audit/runtime.c
               ${CMAKE_SOURCE_DIR}/tools/audit/redirect.c ${CMAKE_SOURCE_DIR}/tools/audit/jump.c
               ${CMAKE_SOURCE_DIR}/tools/audit/elf.c)

# It reads fatbinaries of all compressions.
list(LENGTH ptera_compressions compression_count)
if(compression_count LESS 2)
  set_tests_properties(unit_fatbin PROPERTIES DISABLED ON)
endif()

# The test of memory orders looks into the code that one level decodes.
list(GET PTERA_LEVELS 0 first_level)
target_compile_definitions(unit_order PRIVATE PT_LEVEL=${first_level})
