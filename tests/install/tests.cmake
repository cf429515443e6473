# An installed Ptera serves programs outside the tree. (A sanitizer's build serves only programs with the sanitizer.)
if(NOT PTERA_SANITIZE)
  add_test(NAME install COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/install/run.sh ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}
           ${CMAKE_C_COMPILER} ${CMAKE_CROSSCOMPILING_EMULATOR})
endif()
