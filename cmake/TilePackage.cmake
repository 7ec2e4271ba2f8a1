# What is given away: one shared library, headers, tools and the files that let
# CMake and pkg-config find them.
#
# Components of `cmake --install --component`: Runtime is what a program needs
# that was linked with the library, Development what is needed to build it,
# Tools the programs.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

# Everything of the static libraries in one, so that programs that use MLIR too
# have one copy of our dialect and passes: all symbols stay visible.
get_property(tile_libraries GLOBAL PROPERTY TILE_LIBRARIES)
set(tile_objects "")
foreach(library IN LISTS tile_libraries)
  list(APPEND tile_objects $<TARGET_OBJECTS:${library}>)
endforeach()
add_library(TileCompiler SHARED ${tile_objects})
add_library(TileCompiler::TileCompiler ALIAS TileCompiler)

# The number after `.so` promises that a program built with one library runs
# with every other of the same number that is as new or newer. It is the first
# two parts of the version while the first is 0, and the first alone from 1 on.
# Of the C API more is promised: see tile-c/Tile.h.
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(tile_soversion ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  set(tile_compatibility SameMinorVersion)
else()
  set(tile_soversion ${PROJECT_VERSION_MAJOR})
  set(tile_compatibility SameMajorVersion)
endif()
set_target_properties(TileCompiler PROPERTIES
  LINKER_LANGUAGE CXX
  VERSION ${PROJECT_VERSION}
  SOVERSION ${tile_soversion}
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
target_include_directories(TileCompiler INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
  $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(TileCompiler PRIVATE MLIR LLVM ${CMAKE_DL_LIBS})
# The disk cache tells builds of the library apart by this.
target_link_options(TileCompiler PRIVATE LINKER:--build-id=sha1)

# LLVM's folder, unless the loader looks there anyway. Debian's is not on its
# way; nor is ours, wherever it is moved.
set(tile_llvm_rpath "")
if(NOT LLVM_LIBRARY_DIR IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
  set(tile_llvm_rpath ${LLVM_LIBRARY_DIR})
endif()
# The build tree's is the same: CMake would reserve room in another one by empty
# entries, which mean the current folder.
set_target_properties(TileCompiler PROPERTIES
  BUILD_WITH_INSTALL_RPATH ON
  INSTALL_RPATH "$ORIGIN;${tile_llvm_rpath}")

install(TARGETS TileCompiler EXPORT TileCompilerTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  COMPONENT Runtime NAMELINK_COMPONENT Development)

# Programs are complete without the shared library.
get_property(tile_tools GLOBAL PROPERTY TILE_INSTALLED_TOOLS)
set_target_properties(${tile_tools} PROPERTIES
  INSTALL_RPATH "${tile_llvm_rpath}")
install(TARGETS ${tile_tools}
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT Tools)

# Headers, with what TableGen makes of the dialect and the passes.
install(DIRECTORY include/tile include/tile-c
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT Development
  FILES_MATCHING PATTERN *.h PATTERN *.td)
install(DIRECTORY ${PROJECT_BINARY_DIR}/include/tile
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT Development
  FILES_MATCHING PATTERN *.inc PATTERN CMakeFiles EXCLUDE)

# The texts of the kernel library, to start one's own from, and one tensor per
# format, for the tests of others.
install(DIRECTORY share/tile/kernels share/tile/golden
  DESTINATION ${CMAKE_INSTALL_DATADIR}/tile COMPONENT Development)
install(FILES LICENSE README.md CHANGELOG.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT Development)
install(DIRECTORY docs/
  DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs COMPONENT Development
  FILES_MATCHING PATTERN *.md)
install(DIRECTORY examples/cpp examples/c examples/python examples/kernels
  DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples COMPONENT Development)

# CMake: the same package from an installation and from the build tree.
set(tile_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/TileCompiler)
set(tile_build_package_dir ${PROJECT_BINARY_DIR}/lib/cmake/TileCompiler)
configure_package_config_file(
  cmake/TileCompilerConfig.cmake.in
  ${tile_build_package_dir}/TileCompilerConfig.cmake
  INSTALL_DESTINATION ${tile_package_dir}
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(
  ${tile_build_package_dir}/TileCompilerConfigVersion.cmake
  COMPATIBILITY ${tile_compatibility})
install(FILES
  ${tile_build_package_dir}/TileCompilerConfig.cmake
  ${tile_build_package_dir}/TileCompilerConfigVersion.cmake
  DESTINATION ${tile_package_dir} COMPONENT Development)
install(EXPORT TileCompilerTargets NAMESPACE TileCompiler::
  DESTINATION ${tile_package_dir} COMPONENT Development)
export(EXPORT TileCompilerTargets NAMESPACE TileCompiler::
  FILE ${tile_build_package_dir}/TileCompilerTargets.cmake)

# pkg-config: every path is relative to the file, so that a moved installation
# stays whole.
set(tile_pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
foreach(folder LIBDIR INCLUDEDIR)
  file(RELATIVE_PATH path
    ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_FULL_${folder}})
  string(REGEX REPLACE "/$" "" tile_pc_${folder} ${path})
endforeach()
configure_file(cmake/tile-compiler.pc.in
  ${PROJECT_BINARY_DIR}/tile-compiler.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tile-compiler.pc
  DESTINATION ${tile_pkgconfig_dir} COMPONENT Development)
