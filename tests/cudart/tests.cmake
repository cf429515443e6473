# Programs over the runtime library and ptx_run().
file(GLOB cudart_tests CONFIGURE_DEPENDS cudart/*.c)
foreach(source ${cudart_tests})
  get_filename_component(name ${source} NAME_WE)
  add_executable(cudart_${name} ${source})
  target_link_libraries(cudart_${name} PRIVATE ptera_cudart_13 ptera_cuda ptera_ocelot m Threads::Threads)
  target_compile_definitions(cudart_${name} PRIVATE SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  add_test(NAME cudart_${name} COMMAND cudart_${name})
endforeach()
foreach(major 12 11)
  add_executable(cudart_release_${major} cudart/release.c)
  target_compile_definitions(cudart_release_${major} PRIVATE PT_RT_MAJOR=${major})
  target_link_libraries(cudart_release_${major} PRIVATE ptera_cudart_${major} ptera_cuda)
  add_test(NAME cudart_release_${major} COMMAND cudart_release_${major})
endforeach()

foreach(closed cublas cufft)
  add_library(closed_${closed} SHARED cudart/closed/closed.c)
  set_target_properties(closed_${closed} PROPERTIES OUTPUT_NAME ${closed} VERSION 1 SOVERSION 1 C_VISIBILITY_PRESET default)
  target_link_libraries(cudart_refused PRIVATE closed_${closed})
  target_link_options(cudart_refused PRIVATE -Wl,--no-as-needed)
endforeach()

if(NOT PTERA_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  add_test(NAME exec COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/cudart/exec.sh $<TARGET_FILE:ptera_tool> $<TARGET_FILE:cudart_images>
           $<TARGET_FILE:cudart_ends> $<TARGET_FILE:cudart_refused>)
endif()

# CUDA programs, compiled by nvcc where it is, under `ptera exec`. (A sanitizer would have to be the program's, too.)
find_program(PTERA_NVCC nvcc HINTS /usr/local/cuda/bin)
if(PTERA_NVCC AND NOT PTERA_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  add_test(NAME program_mpi COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/cudart/mpi.sh ${PTERA_NVCC} $<TARGET_FILE:ptera_tool>
           ${CMAKE_SOURCE_DIR}/samples/programs/mpi/jacobi.cu ${CMAKE_CURRENT_BINARY_DIR}/programs/mpi)
  file(GLOB programs CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/samples/programs/*.cu)
  list(FILTER programs EXCLUDE REGEX "_part\\.cu$")
  foreach(name wrong rules compiled)
    list(APPEND programs ${CMAKE_SOURCE_DIR}/tests/cudart/${name}.cu)
  endforeach()
  foreach(source ${programs})
    get_filename_component(name ${source} NAME_WE)
    add_test(NAME program_${name} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/cudart/program.sh ${PTERA_NVCC} $<TARGET_FILE:ptera_tool>
             ${source} ${CMAKE_CURRENT_BINARY_DIR}/programs)
  endforeach()
  foreach(name graph_calls launch_calls device_graph_calls node_update_calls query_calls)
    add_test(NAME golden_${name} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/hardware/golden/compiled_calls.sh ${PTERA_NVCC} $<TARGET_FILE:ptera_tool>
             ${CMAKE_CURRENT_SOURCE_DIR}/hardware/golden/${name}.cu ${CMAKE_CURRENT_BINARY_DIR}/programs)
  endforeach()
  set_tests_properties(golden_query_calls PROPERTIES ENVIRONMENT PTERA_DEVICE=h100)
  # Kernels of two devices that wait for each other take long where they are compiled while they wait.
  set_tests_properties(program_conjugate_gradient PROPERTIES ENVIRONMENT "PTERA_DEVICES=2;PTERA_ENGINE=interp")
  set_tests_properties(program_conjugate_gradient program_graph_memory program_hyperq program_priorities PROPERTIES
                       LABELS long)
endif()
