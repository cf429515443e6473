# `ptera trace`.
add_test(NAME trace COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/trace/trace.sh ${CMAKE_SOURCE_DIR} ${tool})
