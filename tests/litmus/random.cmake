# Random litmus tests: no outcome that the model forbids.
add_test(NAME litmus_random COMMAND ${tool} litmus --engine interp --count 40)
# Weak outcomes come, under schedules that let them, and are seen.
set_tests_properties(litmus_random PROPERTIES PASS_REGULAR_EXPRESSION "may be weak, [1-9][0-9]* were;.*litmus: 40 passed, 0 failed")
add_test(NAME litmus_random_all COMMAND ${tool} litmus --engine interp --count 5500)
set_tests_properties(litmus_random_all PROPERTIES LABELS long TIMEOUT 3600)
if(PTERA_JIT AND NOT CMAKE_CROSSCOMPILING AND NOT PTERA_SANITIZE MATCHES thread)
  add_test(NAME litmus_random_native COMMAND ${tool} litmus --engine jit --count 4)
  add_test(NAME litmus_random_native_all COMMAND ${tool} litmus --engine jit --count 5500)
  set_tests_properties(litmus_random_native_all PROPERTIES LABELS long TIMEOUT 14400)
endif()
if(TARGET broken)
  add_test(NAME litmus_against COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/litmus/against.sh $<TARGET_FILE:ptera_cuda> $<TARGET_FILE:broken> ${tool})
endif()
