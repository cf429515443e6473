# The command `ptera`: what it says of itself, and to what it cannot take.
add_test(NAME tool_usage COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/tool/usage.sh ${CMAKE_SOURCE_DIR} ${tool})
