# Other people's software, installed from PyPI; the label keeps it out of ordinary runs.
if(NOT PTERA_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  foreach(client tinygrad tinygrad_nvrtc numba cupy jax warp core pycuda quadrants triton torch)
    add_test(NAME client_${client} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/client/run.sh ${client} $<TARGET_FILE:ptera_tool>
             ${CMAKE_CURRENT_BINARY_DIR}/client)
    set_tests_properties(client_${client} PROPERTIES LABELS "client;long" TIMEOUT 1800)
  endforeach()
endif()
