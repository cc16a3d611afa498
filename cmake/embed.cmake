# Turns profiles/**/*.json into one generated source file: a table of {kind, name, text}.
file(GLOB_RECURSE profile_files RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/profiles/*.json)
list(SORT profile_files)
set(embedded ${PROJECT_BINARY_DIR}/embedded_profiles.cpp)
add_custom_command(
  OUTPUT ${embedded}
  COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DOUT=${embedded} "-DFILES=${profile_files}"
          -P ${PROJECT_SOURCE_DIR}/cmake/write_embedded.cmake
  DEPENDS ${profile_files} ${PROJECT_SOURCE_DIR}/cmake/write_embedded.cmake
  VERBATIM)
# Long literals are the point of this file.
set_source_files_properties(${embedded} PROPERTIES COMPILE_OPTIONS -Wno-overlength-strings)
target_sources(breakeven_profiles PRIVATE ${embedded})
