# What each library may link, directly or not. The order of the spine is a rule,
# not a habit: number formats and layouts know nothing of MLIR's IR, and the
# reference and emulator devices never see a lowering, or they would be no
# independent witnesses. Configuring fails where a rule is broken;
# scripts/check-dependencies.py checks the same of the objects and the include
# lines.
set(TILE_MAY_LINK_TileFormats "")
set(TILE_MAY_LINK_TileLayout "")
set(TILE_MAY_LINK_TileTarget TileFormats TileLayout)
set(TILE_MAY_LINK_TilePtxas TileFormats TileLayout TileTarget)
set(TILE_MAY_LINK_TileDialect TileFormats TileLayout MLIR)
set(TILE_MAY_LINK_TileReference TileDialect TileFormats TileLayout MLIR)
set(TILE_MAY_LINK_TileEmulatorSyntax "")
set(TILE_MAY_LINK_TileEmulator TileEmulatorSyntax TileFormats)
set(TILE_MAY_LINK_TileTransforms TileDialect TileFormats TileLayout TileTarget MLIR)
set(TILE_MAY_LINK_TileConversion TileDialect TileFormats TileLayout TileTarget
    TileTransforms MLIR)
set(TILE_MAY_LINK_TileCodegen TileConversion TileDialect TileFormats TileLayout
    TileTarget TileTransforms MLIR)
set(TILE_MAY_LINK_TileTools TileFormats MLIR)
set(TILE_MAY_LINK_TileEmulatorTools TileEmulator TileEmulatorSyntax TileFormats
    TileTools MLIR)
# What a compiled kernel says of its tensor maps, as the emulator and the driver
# take it.
set(TILE_MAY_LINK_TileLaunch TileEmulator TileEmulatorSyntax TileFormats)
# The runtime brings them together; nothing above but its C face may know it.
set(TILE_MAY_LINK_TileRuntime TileCodegen TileConversion TileDialect TileEmulator
    TileEmulatorSyntax TileFormats TileLayout TilePtxas TileReference TileTarget
    TileLaunch TileTools TileTransforms MLIR)
set(TILE_MAY_LINK_TileCAPI TileRuntime ${TILE_MAY_LINK_TileRuntime})

# Every target that `library` links, directly or not, in `out`.
function(tile_get_links library out)
  set(found "")
  set(open ${library})
  while(open)
    list(POP_FRONT open next)
    get_target_property(links ${next} LINK_LIBRARIES)
    foreach(link IN LISTS links)
      if(TARGET ${link} AND NOT link IN_LIST found)
        list(APPEND found ${link})
        get_target_property(imported ${link} IMPORTED)
        if(NOT imported)
          list(APPEND open ${link})
        endif()
      endif()
    endforeach()
  endwhile()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# Fails where a library of ours links what its rule does not allow.
function(tile_check_dependencies)
  get_property(libraries GLOBAL PROPERTY TILE_LIBRARIES)
  foreach(library IN LISTS libraries)
    if(NOT DEFINED TILE_MAY_LINK_${library})
      continue()
    endif()
    tile_get_links(${library} links)
    foreach(link IN LISTS links)
      if(link MATCHES "^(Tile|MLIR)" AND
         NOT link IN_LIST TILE_MAY_LINK_${library})
        message(FATAL_ERROR "${library} may not link ${link}; "
                            "see cmake/TileDependencies.cmake")
      endif()
    endforeach()
  endforeach()
endfunction()
