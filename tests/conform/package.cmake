# Makes the package of the conformance suite: cmake -DDATA=FOLDER -DOUT=FOLDER -DDOC=FILE -P package.cmake. DATA has suite.tsv and
# the sets that it names.
file(STRINGS ${DATA}/suite.tsv lines REGEX "^[^#]")
list(POP_FRONT lines version)
string(REGEX MATCH "^version\t([^\t]+)\t" version "${version}")
set(name ptera-conformance-${CMAKE_MATCH_1})
file(REMOVE_RECURSE ${OUT}/${name})
file(MAKE_DIRECTORY ${OUT}/${name})
foreach(line ${lines})
  string(REGEX MATCH "^[^\t]+" set "${line}")
  file(COPY ${DATA}/${set} DESTINATION ${OUT}/${name})
endforeach()
file(COPY ${DATA}/suite.tsv ${DOC} ${CMAKE_CURRENT_LIST_DIR}/known-nvidia-580.tsv DESTINATION ${OUT}/${name})
execute_process(COMMAND ${CMAKE_COMMAND} -E chdir ${OUT} ${CMAKE_COMMAND} -E tar cf ${name}.tar --format=gnutar ${name}
                COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE_RECURSE ${OUT}/${name})
find_program(ZSTD zstd REQUIRED)
execute_process(COMMAND ${ZSTD} -q -f --rm -12 -T0 ${OUT}/${name}.tar -o ${OUT}/${name}.tar.zst COMMAND_ERROR_IS_FATAL ANY)
message(STATUS "${OUT}/${name}.tar.zst")
