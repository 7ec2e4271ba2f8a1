# tile_embed_texts(TARGET OUTPUT FILE…): writes OUTPUT below the folder that TARGET
# is built in, with a line `{"NAME", R"…(text)…"},` for each FILE, and lets TARGET
# include it. NAME is that of the file without its extension. Changed files are
# read anew by the next build.
function(tile_embed_texts target output)
  set(path ${CMAKE_CURRENT_BINARY_DIR}/${output})
  set(script ${PROJECT_SOURCE_DIR}/cmake/EmbedTexts.cmake)
  add_custom_command(
    OUTPUT ${path}
    COMMAND ${CMAKE_COMMAND} "-DOUTPUT=${path}" "-DFILES=${ARGN}" -P ${script}
    DEPENDS ${ARGN} ${script}
    COMMENT "Embedding texts in ${output}"
    VERBATIM)
  target_sources(${target} PRIVATE ${path})
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
endfunction()
