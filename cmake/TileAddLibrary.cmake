# tile_add_library(NAME source… [SUPPORT_ONLY] [DEPENDS target…] [LINK_LIBS target…])
#
# A static, position-independent library on top of the shared libMLIR and
# libLLVM. MLIR's own libraries are never named: naming one (MLIRIR, …) links
# its archive as well, and the process then holds two copies of MLIR.
#
# SUPPORT_ONLY: the library knows nothing of MLIR (Formats, Layout, Target); it
# links LLVM alone, so that an accidental use of MLIR's IR fails to link.
function(tile_add_library name)
  cmake_parse_arguments(ARG "SUPPORT_ONLY" "" "DEPENDS;LINK_LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  set_property(GLOBAL APPEND PROPERTY TILE_LIBRARIES ${name})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  llvm_update_compile_flags(${name})
  if(ARG_SUPPORT_ONLY)
    target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS} LLVM)
  else()
    target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS} MLIR LLVM)
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# tile_add_tool(NAME source… [LINK_LIBS target…]): an executable in build/bin.
function(tile_add_tool name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  llvm_update_compile_flags(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} MLIR LLVM)
endfunction()
