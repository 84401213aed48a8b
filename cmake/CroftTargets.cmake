# One static library per folder, sources listed by hand; executables hold only main.cc.

add_library(croft_warnings INTERFACE)
add_library(croft::warnings ALIAS croft_warnings)
target_compile_options(croft_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast -Wimplicit-fallthrough
  $<$<BOOL:${CROFT_WERROR}>:-Werror>)

# With sanitizers, where a process reports is compiled in, and every test's processes are held to it (tests/sanitizer_options.cc).
if(CROFT_SANITIZED)
  string(SHA1 build_id "${CMAKE_BINARY_DIR}")
  string(SUBSTRING "${build_id}" 0 12 build_id)
  set(CROFT_SANITIZER_REPORTS "/tmp/croft-sanitizer-reports.${build_id}")
  set(CROFT_TEST_FIXTURES sanitizer_reports)
  add_library(croft_sanitizer OBJECT "${CMAKE_SOURCE_DIR}/tests/sanitizer_options.cc")
  target_compile_definitions(croft_sanitizer PRIVATE CROFT_SANITIZER_REPORTS="${CROFT_SANITIZER_REPORTS}")
else()
  set(CROFT_TEST_FIXTURES "")
  add_library(croft_sanitizer INTERFACE)
endif()
add_library(croft::sanitizer ALIAS croft_sanitizer)

# croft_library(control_domain SOURCES a.cc b.cc LINK croft::contract PUBLIC_LINK croft::base)
function(croft_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;PUBLIC_LINK" ${ARGN})
  add_library(croft_${name} STATIC ${ARG_SOURCES})
  add_library(croft::${name} ALIAS croft_${name})
  target_include_directories(croft_${name} PUBLIC "${CMAKE_SOURCE_DIR}")
  target_link_libraries(croft_${name} PUBLIC ${ARG_PUBLIC_LINK} PRIVATE ${ARG_LINK} croft::warnings)
endfunction()

# croft_program(croft-worker SOURCES main.cc LINK croft::worker)
function(croft_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE "${CMAKE_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE ${ARG_LINK} croft::warnings croft::sanitizer)
endfunction()

# croft_test(contract_test LABELS unit SOURCES a_test.cc LINK croft::contract): one CTest entry that runs all of its cases.
function(croft_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LINK;LABELS;DEPENDS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE "${CMAKE_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gmock GTest::gtest_main croft::warnings croft::sanitizer)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT}
    FIXTURES_REQUIRED "${CROFT_TEST_FIXTURES}"
    ENVIRONMENT "CROFT_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY};CROFT_SOURCE=${CMAKE_SOURCE_DIR}")
endfunction()

# croft_fuzz(host_name target.cc LINK croft::contract): tests/fuzz/<name>/target.cc, replaying tests/fuzz/<name>/corpus in the normal
# run; with CROFT_FUZZ the same file is a libFuzzer program.
function(croft_fuzz name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(fuzz_${name} ${ARG_SOURCES})
  target_include_directories(fuzz_${name} PRIVATE "${CMAKE_SOURCE_DIR}")
  target_link_libraries(fuzz_${name} PRIVATE ${ARG_LINK} croft::warnings croft::sanitizer)
  if(CROFT_FUZZ)
    target_compile_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  else()
    target_sources(fuzz_${name} PRIVATE "${CMAKE_SOURCE_DIR}/tests/fuzz/replay_main.cc")
    add_test(NAME fuzz_${name} COMMAND fuzz_${name} "${CMAKE_CURRENT_SOURCE_DIR}/${name}/corpus")
    set_tests_properties(fuzz_${name} PROPERTIES LABELS fuzz_smoke TIMEOUT 60 FIXTURES_REQUIRED "${CROFT_TEST_FIXTURES}")
  endif()
endfunction()
