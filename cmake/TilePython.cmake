# Whether the Python package can be built, in TILE_CAN_BUILD_PYTHON: with the
# Python of .venv where scripts/setup has made one, its headers and nanobind.
if(NOT DEFINED Python_EXECUTABLE AND
   EXISTS ${PROJECT_SOURCE_DIR}/.venv/bin/python)
  set(Python_EXECUTABLE ${PROJECT_SOURCE_DIR}/.venv/bin/python)
endif()
find_package(Python 3.10 QUIET COMPONENTS Interpreter Development.Module)

set(TILE_CAN_BUILD_PYTHON OFF)
if(Python_FOUND)
  execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
    RESULT_VARIABLE TILE_NANOBIND_RESULT
    OUTPUT_VARIABLE TILE_NANOBIND_DIR
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(TILE_NANOBIND_RESULT EQUAL 0)
    set(TILE_CAN_BUILD_PYTHON ON)
  endif()
endif()
