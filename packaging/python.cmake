# The Python package: python/ptera beside what it needs of the build, in the build folder's python/
# for tests, and in a wheel (python/pyproject.toml, ./dev wheel).

find_package(Python3 COMPONENTS Interpreter QUIET)
set(ptera_python ${CMAKE_BINARY_DIR}/python/ptera)
file(GLOB_RECURSE python_sources CONFIGURE_DEPENDS python/ptera/*.py python/ptera/py.typed
     python/ptera_triton/*.py)
list(FILTER python_sources EXCLUDE REGEX "_abi.py$")

# The API as cffi has it, made from the header: builds without cffi, or Python 3.11, leave it out.
set(have_cffi 1)
if(Python3_Interpreter_FOUND)
  execute_process(COMMAND ${Python3_EXECUTABLE} -c "import cffi, tomllib" RESULT_VARIABLE have_cffi ERROR_QUIET)
endif()
if(NOT have_cffi EQUAL 0)
  if(PTERA_WHEEL)
    message(FATAL_ERROR "A wheel needs Python and cffi")
  endif()
  return()
endif()

add_custom_command(
  OUTPUT ${ptera_python}/_abi.py
  COMMAND ${CMAKE_COMMAND} -E make_directory ${ptera_python}
  COMMAND ${CMAKE_COMMAND} -E copy_directory ${CMAKE_SOURCE_DIR}/python/ptera ${ptera_python}
  COMMAND ${CMAKE_COMMAND} -E copy_directory ${CMAKE_SOURCE_DIR}/python/ptera_triton ${CMAKE_BINARY_DIR}/python/ptera_triton
  COMMAND ${CMAKE_COMMAND} -E create_symlink ${CMAKE_BINARY_DIR} ${ptera_python}/lib
  COMMAND ${CMAKE_COMMAND} -E create_symlink ${CMAKE_BINARY_DIR} ${ptera_python}/bin
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/python/make_abi.py ${CMAKE_SOURCE_DIR}/include/ptera.h
          ${ptera_python}/_abi.py
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/python/make_info.py ${CMAKE_SOURCE_DIR}/python/pyproject.toml
          ${PROJECT_VERSION} ${CMAKE_BINARY_DIR}/python
  DEPENDS python/make_abi.py python/make_info.py python/pyproject.toml include/ptera.h ${python_sources}
  COMMENT "Making the Python package"
  VERBATIM)
add_custom_target(python_package ALL DEPENDS ${ptera_python}/_abi.py)

if(PTERA_WHEEL)
  # Archives of wheels have no links: each library is there once, by the name that loaders ask for.
  install(FILES ${ptera_python}/_abi.py DESTINATION . COMPONENT wheel)
  foreach(target ptera ptera_cuda ptera_cudart_13 ptera_cudart_12 ptera_cudart_11 ptera_nvml ptera_cupti_13 ptera_cupti_12)
    install(PROGRAMS $<TARGET_FILE:${target}> DESTINATION lib RENAME $<TARGET_SONAME_FILE_NAME:${target}> COMPONENT wheel)
  endforeach()
  install(TARGETS ptera_audit ptera_nodes LIBRARY DESTINATION lib COMPONENT wheel)
  foreach(target ptera_nvrtc_13 ptera_nvrtc_12 ptera_nvrtc_11.2 ptera_nvjitlink_13 ptera_nvjitlink_12)
    install(TARGETS ${target} LIBRARY DESTINATION lib/ptera-compilers COMPONENT wheel)
  endforeach()
  if(TARGET ptera_jit)
    install(TARGETS ptera_jit LIBRARY DESTINATION lib COMPONENT wheel)
    install(TARGETS ptera_compiler RUNTIME DESTINATION lib COMPONENT wheel)
  endif()
  install(PROGRAMS $<TARGET_FILE:ptera_cupti_12> DESTINATION lib/ptera-cupti RENAME libcupti.so COMPONENT wheel)
  install(TARGETS ptera_smi RUNTIME DESTINATION lib/ptera-programs COMPONENT wheel)
  install(TARGETS ptera_tool RUNTIME DESTINATION bin COMPONENT wheel)
  install(FILES include/ptera.h DESTINATION include COMPONENT wheel)
endif()
