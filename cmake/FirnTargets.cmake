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

# firn_python_test(NAME SOURCES ... [LINK ...]): CTest runs the pytest files of tests/NAME, which find the program built
# from SOURCES in FIRN_TEST_TOOL.
function(firn_python_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name}_tool ${ARG_SOURCES})
  target_link_libraries(${name}_tool PRIVATE ${ARG_LINK})
  firn_precompile(${name}_tool)
  add_test(NAME ${name}_python
    COMMAND ${PROJECT_SOURCE_DIR}/.deps/venv/bin/python -m pytest -q -p no:cacheprovider
            ${PROJECT_SOURCE_DIR}/tests/${name})
  set_tests_properties(${name}_python PROPERTIES
    ENVIRONMENT "FIRN_TEST_TOOL=$<TARGET_FILE:${name}_tool>")
endfunction()

# The Arrow headers, compiled once and shared by every target.
function(firn_precompile target)
  target_precompile_headers(${target} REUSE_FROM firn_precompiled)
endfunction()
