# One call per target. Every library lists its sources by name, so that a file nobody builds is seen
# (tools/check_registered.py compares the lists with the tree).

# firn_library(NAME SOURCES ... [LINK ...]): static library firn_NAME from this folder.
function(firn_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_library(firn_${name} STATIC ${ARG_SOURCES})
  target_include_directories(firn_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(firn_${name} PUBLIC firn_options ${ARG_LINK})
  firn_precompile(firn_${name})
endfunction()

# firn_test(NAME SOURCES ... [LINK ...]): one test binary for a module, run by CTest.
function(firn_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name}_test ${ARG_SOURCES})
  target_compile_definitions(${name}_test PRIVATE FIRN_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name}_test PRIVATE ${ARG_LINK} GTest::gmock GTest::gtest_main)
  firn_precompile(${name}_test)
  add_test(NAME ${name} COMMAND ${name}_test --gtest_brief=1)
endfunction()

# The Arrow headers, compiled once and shared by every target.
function(firn_precompile target)
  target_precompile_headers(${target} REUSE_FROM firn_precompiled)
endfunction()
