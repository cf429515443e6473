# What an H200 returns: hardware/golden/README.md.
set(golden_data ${CMAKE_CURRENT_BINARY_DIR}/golden.data)
set(golden_sets golden float atomic exhaust contract divide matrix legacy chain edge)
foreach(set ${golden_sets} sync random tensor texture surface wgmma mufu triton)
  set(archive ${CMAKE_CURRENT_SOURCE_DIR}/hardware/golden/${set}.tar.xz)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${archive})
  file(ARCHIVE_EXTRACT INPUT ${archive} DESTINATION ${golden_data}/${set})
endforeach()
configure_file(hardware/golden/suite.tsv ${golden_data}/suite.tsv COPYONLY) # so it is a suite of ptera conform
add_executable(golden hardware/golden/run.c)
target_link_libraries(golden PRIVATE ptera)
foreach(set ${golden_sets})
  add_test(NAME golden_${set} COMMAND golden ${golden_data}/${set})
endforeach()

add_executable(golden_random hardware/golden/random.c)
target_link_libraries(golden_random PRIVATE ptera)
add_test(NAME golden_random COMMAND golden_random ${golden_data}/random)

add_executable(golden_sync hardware/golden/sync.c)
target_link_libraries(golden_sync PRIVATE ptera)
add_test(NAME golden_sync COMMAND golden_sync ${golden_data}/sync)

add_executable(golden_tensor hardware/golden/tensor.c)
target_link_libraries(golden_tensor PRIVATE ptera_all)
add_test(NAME golden_tensor COMMAND golden_tensor ${golden_data}/tensor)

add_executable(golden_texture hardware/golden/texture.c)
target_link_libraries(golden_texture PRIVATE ptera_cuda)
add_test(NAME golden_texture COMMAND golden_texture ${golden_data}/texture 8)
add_test(NAME golden_texture_all COMMAND golden_texture ${golden_data}/texture)
set_tests_properties(golden_texture_all PROPERTIES LABELS long)
add_test(NAME golden_texture_native COMMAND golden_texture ${golden_data}/texture 64)
set_tests_properties(golden_texture_native PROPERTIES ENVIRONMENT PTERA_ENGINE=jit)

add_executable(image_calls hardware/golden/image_calls.c)
target_link_libraries(image_calls PRIVATE ptera_cuda)
add_test(NAME golden_image_calls COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/hardware/golden/image_calls.sh $<TARGET_FILE:image_calls>
         ${CMAKE_CURRENT_SOURCE_DIR}/hardware/golden/image_calls.txt)

add_executable(array_copies hardware/golden/array_copies.c)
target_link_libraries(array_copies PRIVATE ptera_cudart_13 ptera_cuda)
add_test(NAME golden_array_copies COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/hardware/golden/image_calls.sh $<TARGET_FILE:array_copies>
         ${CMAKE_CURRENT_SOURCE_DIR}/hardware/golden/array_copies.txt)

add_executable(golden_surface hardware/golden/surface.c)
target_link_libraries(golden_surface PRIVATE ptera_cuda)
add_test(NAME golden_surface COMMAND golden_surface ${golden_data}/surface 3)
add_test(NAME golden_surface_all COMMAND golden_surface ${golden_data}/surface)
set_tests_properties(golden_surface_all PROPERTIES LABELS long)
add_test(NAME golden_surface_native COMMAND golden_surface ${golden_data}/surface 200)
set_tests_properties(golden_surface_native PROPERTIES ENVIRONMENT PTERA_ENGINE=jit)
# Observed, each lane samples by itself, not in vectors.
add_test(NAME golden_texture_lanes COMMAND golden_texture ${golden_data}/texture 8)
set_tests_properties(golden_texture_lanes PROPERTIES ENVIRONMENT "PTERA_ENGINE=interp;PTERA_OBSERVE=sync")

add_executable(golden_shared hardware/golden/shared.c)
target_link_libraries(golden_shared PRIVATE ptera)
if(is_slow)
  set(part_wgmma --every 8)
endif()
add_test(NAME golden_wgmma COMMAND golden_shared ${part_wgmma} ${golden_data}/wgmma)

# Launches of Triton's own tests, each buffer as an H100 left it.
add_test(NAME golden_triton COMMAND api_real plain ${golden_data}/triton)

# The approximate functions on all 2^32 inputs, conversions on all or very many: by default a part of them.
add_executable(mufu hardware/golden/mufu.c)
target_link_libraries(mufu PRIVATE ptera)
add_test(NAME mufu COMMAND mufu ${golden_data}/mufu 128)
add_test(NAME mufu_all COMMAND mufu ${golden_data}/mufu 1)
add_executable(convert hardware/golden/convert.c)
target_link_libraries(convert PRIVATE ptera Threads::Threads)
add_test(NAME convert COMMAND convert ${CMAKE_CURRENT_SOURCE_DIR}/assembler/isa/forms.tsv 1000000)
add_test(NAME convert_all COMMAND convert ${CMAKE_CURRENT_SOURCE_DIR}/assembler/isa/forms.tsv 100000000)
set_tests_properties(mufu convert PROPERTIES LABELS release-only)
set_tests_properties(mufu_all convert_all PROPERTIES LABELS long TIMEOUT 7200)

# All of them under all checkers: nothing is found but what check/known.txt has, and nothing changes. By default a part.
set(checked_environment "PTERA_OBSERVE=mem,init,race,sync;PTERA_KNOWN=${CMAKE_CURRENT_SOURCE_DIR}/check/known.txt")
function(add_checked name every)
  add_test(NAME checked_${name} COMMAND ${ARGN} --every ${every} ${golden_data}/${name})
  add_test(NAME checked_${name}_all COMMAND ${ARGN} --every 1 ${golden_data}/${name})
  set_tests_properties(checked_${name}_all PROPERTIES LABELS long)
  set_tests_properties(checked_${name} checked_${name}_all PROPERTIES ENVIRONMENT "${checked_environment}")
endfunction()
foreach(set ${golden_sets})
  add_checked(${set} 32 golden)
endforeach()
add_checked(wgmma 64 golden_shared)
add_checked(triton 16 api_real)
add_test(NAME checked_random COMMAND golden_random ${golden_data}/random --every 8)
add_test(NAME checked_random_all COMMAND golden_random ${golden_data}/random)
add_test(NAME checked_sync COMMAND golden_sync ${golden_data}/sync)
add_test(NAME checked_tensor COMMAND golden_tensor ${golden_data}/tensor)
add_test(NAME checked_real COMMAND api_real)
add_test(NAME checked_samples COMMAND api_samples)
set_tests_properties(checked_random_all PROPERTIES LABELS long)
set_tests_properties(checked_random checked_random_all checked_sync checked_tensor checked_real checked_samples PROPERTIES ENVIRONMENT "${checked_environment}")

# Under other schedules, with reads that see old values, they leave the same.
add_test(NAME ordered_samples COMMAND api_samples)
add_test(NAME ordered_triton COMMAND api_real --every 1 ${golden_data}/triton)
add_test(NAME ordered_sync COMMAND golden_sync ${golden_data}/sync)
add_test(NAME ordered_tensor COMMAND golden_tensor ${golden_data}/tensor)
add_test(NAME ordered_random COMMAND golden_random ${golden_data}/random)
add_test(NAME ordered_wgmma COMMAND golden_shared --every 16 ${golden_data}/wgmma)
foreach(set ${golden_sets})
  add_test(NAME ordered_${set} COMMAND golden ${golden_data}/${set})
  list(APPEND ordered ordered_${set})
endforeach()
list(APPEND ordered ordered_samples ordered_triton ordered_sync ordered_tensor ordered_random ordered_wgmma)
set_tests_properties(${ordered} PROPERTIES LABELS long TIMEOUT 1800
                     ENVIRONMENT "PTERA_OBSERVE=order;PTERA_KNOWN=${CMAKE_CURRENT_SOURCE_DIR}/check/known.txt")

# What `ptera profile` counts, beside an H100's counters: hardware/profile/README.md.
add_executable(profile_launch hardware/profile/launch.c)
target_compile_definitions(profile_launch PRIVATE PTERA_PROFILED)
target_link_libraries(profile_launch PRIVATE ptera_cuda)
add_test(NAME profile_h100 COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/hardware/profile/profile.sh
         ${CMAKE_CURRENT_SOURCE_DIR}/hardware/profile $<TARGET_FILE:profile_launch> $<TARGET_FILE:estimate_launch> ${tool})

# What `ptera profile --estimate` says, beside an H100's times: hardware/estimate/README.md.
file(GLOB bench_sets CONFIGURE_DEPENDS bench/second_*.c bench/textures.c)
add_executable(estimate_launch hardware/estimate/launch.c hardware/samples.c bench/case.c bench/add.c bench/limits.c bench/first_set.c ${bench_sets})
target_compile_definitions(estimate_launch PRIVATE PTERA_PROFILED)
target_link_libraries(estimate_launch PRIVATE ptera_cuda m)
add_test(NAME estimate_h100 COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/hardware/estimate/estimate.sh
         ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:estimate_launch> ${tool})

# What the driver and the runtime library answer, beside an H100's: hardware/driver/README.md. It is built with NVIDIA's headers.
find_path(PTERA_CUDA_HEADERS cuda_runtime_api.h HINTS /usr/local/cuda/include)
if(PTERA_CUDA_HEADERS)
  file(GLOB driver_sources CONFIGURE_DEPENDS hardware/driver/*.c)
  add_executable(driver_calls ${driver_sources})
  target_include_directories(driver_calls SYSTEM PRIVATE ${PTERA_CUDA_HEADERS})
  target_compile_options(driver_calls PRIVATE -Wno-deprecated-declarations)
  if(PTERA_SANITIZE) # its calls are wrong on purpose: the libraries are watched
    target_compile_options(driver_calls PRIVATE -fno-sanitize=all)
  endif()
  target_link_libraries(driver_calls PRIVATE ptera_cudart_13 ptera_cuda)
  set(driver_folder ${CMAKE_CURRENT_SOURCE_DIR}/hardware/driver)
  add_test(NAME driver_h100 COMMAND ${driver_folder}/compare.sh $<TARGET_FILE:driver_calls> ${driver_folder}/driver_calls.txt
           ${driver_folder}/differences.txt)
  set_tests_properties(driver_h100 PROPERTIES ENVIRONMENT PTERA_DEVICE=h100)
  add_test(NAME driver_h100_two COMMAND ${driver_folder}/compare.sh $<TARGET_FILE:driver_calls> ${driver_folder}/driver_calls_two.txt
           ${driver_folder}/differences_two.txt two)
  set_tests_properties(driver_h100_two PROPERTIES ENVIRONMENT "PTERA_DEVICE=h100;PTERA_DEVICES=2;PTERA_HOST_ACCESS=trap")
  add_test(NAME check_entries COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_entries.sh ${CMAKE_SOURCE_DIR} ${PTERA_CUDA_HEADERS}
           $<TARGET_FILE:ptera_cudart_13>)
endif()
