# NVIDIA's management library, and what else programs look for before they ask CUDA.
add_executable(nvml nvml/nvml.c)
target_link_libraries(nvml PRIVATE ptera_nvml ptera_cuda)
add_test(NAME nvml COMMAND nvml)
if(NOT PTERA_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  add_test(NAME nvml_exec COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/nvml/exec.sh $<TARGET_FILE:ptera_tool>
           $<$<BOOL:${PTERA_PTXAS}>:${PTERA_PTXAS}>)
endif()
