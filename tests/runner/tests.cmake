# One-file cases: tests/ptx and tests/bad by the runner, through the command line tool.
add_executable(run_cases runner/cases.c)
if(NOT PTERA_JIT)
  set(without_jit --interpreted)
endif()
foreach(cases tests/ptx tests/bad samples)
  string(REPLACE "/" "_" name ${cases})
  set(rest "")
  if(PTERA_SANITIZE AND PTERA_JIT AND cases STREQUAL tests/ptx) # both_* interprets the others, too
    set(rest --but "--engine both")
  endif()
  add_test(NAME cases_${name} COMMAND run_cases ${without_jit} ${sample_${name}} ${rest} ${CMAKE_SOURCE_DIR} ${cases} ${tool})
endforeach()

# What is right is right in isolated launches, too: every access is tested there.
foreach(cases tests/ptx samples)
  string(REPLACE "/" "_" name ${cases})
  add_test(NAME isolated_${name} COMMAND run_cases ${without_jit} ${sample_${name}} --with --isolate ${CMAKE_SOURCE_DIR} ${cases} ${tool})
endforeach()
add_test(NAME isolated_api_samples COMMAND api_samples isolate)
add_test(NAME isolated_api_real COMMAND api_real isolate)

# It does not depend on the order in which threads run.
add_test(NAME lanes_samples COMMAND run_cases ${without_jit} --with "--order lanes" ${CMAKE_SOURCE_DIR} samples ${tool})

# Nor does it depend on when asynchronous operations take place; and no checker finds anything.
foreach(how late checked)
  add_test(NAME ${how}_api_real COMMAND api_real ${how})
endforeach()
