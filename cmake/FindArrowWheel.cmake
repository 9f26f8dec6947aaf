# Imported targets Arrow::arrow, Parquet::parquet and Arrow::compute.
#
# An installed Arrow with CMake config files is taken first (ARROW_PREFER_SYSTEM), else the pyarrow wheel
# of `make setup`: headers from .deps/venv, libraries from .deps/arrow, where tools/hide_symbols.py put them.
option(ARROW_PREFER_SYSTEM "Use an installed Arrow with CMake config files when there is one" ON)

set(_version_min ${ArrowWheel_FIND_VERSION})
if(ARROW_PREFER_SYSTEM)
  find_package(Arrow ${_version_min} CONFIG QUIET)
  find_package(Parquet ${_version_min} CONFIG QUIET)
  find_package(ArrowCompute ${_version_min} CONFIG QUIET)
endif()

if(Arrow_FOUND AND Parquet_FOUND AND ArrowCompute_FOUND)
  set(ArrowWheel_VERSION ${Arrow_VERSION})
  set(ArrowWheel_SOURCE "installed")
  foreach(_pair Arrow::arrow=Arrow::arrow_shared Parquet::parquet=Parquet::parquet_shared
                Arrow::compute=ArrowCompute::arrow_compute_shared)
    string(REPLACE "=" ";" _pair ${_pair})
    list(GET _pair 0 _alias)
    list(GET _pair 1 _target)
    add_library(${_alias} INTERFACE IMPORTED)
    target_link_libraries(${_alias} INTERFACE ${_target})
  endforeach()
else()
  set(ArrowWheel_SOURCE "wheel")
  file(GLOB _wheels "${PROJECT_SOURCE_DIR}/.deps/venv/lib/python3*/site-packages/pyarrow")
  find_path(ArrowWheel_INCLUDE_DIR arrow/api.h PATHS ${_wheels} PATH_SUFFIXES include NO_DEFAULT_PATH)
  set(ArrowWheel_LIBRARY_DIR "${PROJECT_SOURCE_DIR}/.deps/arrow")
  if(ArrowWheel_INCLUDE_DIR)
    file(STRINGS "${ArrowWheel_INCLUDE_DIR}/arrow/util/config.h" _config
         REGEX "#define ARROW_(VERSION_STRING|SO_VERSION)")
    string(REGEX MATCH "VERSION_STRING \"([0-9.]+)" _ "${_config}")
    set(ArrowWheel_VERSION "${CMAKE_MATCH_1}")
    string(REGEX MATCH "SO_VERSION \"([0-9]+)" _ "${_config}")
    set(_so_version "${CMAKE_MATCH_1}")
    foreach(_pair Arrow::arrow=libarrow Parquet::parquet=libparquet Arrow::compute=libarrow_compute)
      string(REPLACE "=" ";" _pair ${_pair})
      list(GET _pair 0 _target)
      list(GET _pair 1 _stem)
      add_library(${_target} SHARED IMPORTED)
      set_target_properties(${_target} PROPERTIES
        IMPORTED_LOCATION "${ArrowWheel_LIBRARY_DIR}/${_stem}.so.${_so_version}"
        IMPORTED_SONAME "${_stem}.so.${_so_version}"
        INTERFACE_INCLUDE_DIRECTORIES "${ArrowWheel_INCLUDE_DIR}")
    endforeach()
    set_property(TARGET Parquet::parquet Arrow::compute
                 APPEND PROPERTY INTERFACE_LINK_LIBRARIES Arrow::arrow)
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ArrowWheel
  REQUIRED_VARS ArrowWheel_VERSION
  VERSION_VAR ArrowWheel_VERSION
  REASON_FAILURE_MESSAGE "run 'make setup' first")
