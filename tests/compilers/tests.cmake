# What stands in front of NVIDIA's compilers, and those where they are.
if(NOT PTERA_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  find_path(PTERA_NVRTC libnvrtc.so.13 HINTS /usr/local/cuda/lib64)
  add_executable(compilers_client compilers/client.c)
  target_link_libraries(compilers_client PRIVATE ptera_cuda ${CMAKE_DL_LIBS})
  add_library(compilers_fake MODULE compilers/fake.c)
  set_target_properties(compilers_fake PROPERTIES C_VISIBILITY_PRESET default)
  add_test(NAME compilers COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/compilers/run.sh $<TARGET_FILE:ptera_tool> $<TARGET_FILE:compilers_client>
           $<TARGET_FILE:compilers_fake> $<$<BOOL:${PTERA_NVRTC}>:${PTERA_NVRTC}>)
endif()
