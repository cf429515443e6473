# The Python package. (Python itself has no sanitizer's runtime.)
if(TARGET python_package AND NOT PTERA_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  add_test(NAME python COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/python/run.py ${CMAKE_BINARY_DIR}/python
           ${CMAKE_SOURCE_DIR}/samples)
endif()
