# Installs the program and the library as a package: find_package(breakeven), then breakeven::model and the others.
option(BREAKEVEN_INSTALL "make install rules" ${PROJECT_IS_TOP_LEVEL})
if(NOT BREAKEVEN_INSTALL)
  return()
endif()
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS breakeven)
install(TARGETS breakeven_model breakeven_compressors breakeven_profiles breakeven_cli EXPORT breakevenTargets)
foreach(folder IN ITEMS model compressors profiles cli)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder}/ DESTINATION include/breakeven/${folder}
          FILES_MATCHING PATTERN "*.h" PATTERN "*-inl.h" EXCLUDE)
endforeach()

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/breakeven)
install(EXPORT breakevenTargets NAMESPACE breakeven:: DESTINATION ${package_folder})
configure_package_config_file(cmake/breakevenConfig.cmake.in ${PROJECT_BINARY_DIR}/breakevenConfig.cmake
                              INSTALL_DESTINATION ${package_folder})
# Below 1.0 a minor version may break its users.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/breakevenConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/breakevenConfig.cmake ${PROJECT_BINARY_DIR}/breakevenConfigVersion.cmake
        DESTINATION ${package_folder})

# The program writes its own man page and completions, from the one option table.
if(NOT CMAKE_CROSSCOMPILING)
  set(written)
  function(breakeven_writes file folder)
    set(output ${PROJECT_BINARY_DIR}/written/${file})
    add_custom_command(OUTPUT ${output} COMMAND breakeven ${ARGN} > ${output} DEPENDS breakeven VERBATIM)
    install(FILES ${output} DESTINATION ${folder})
    set(written ${written} ${output} PARENT_SCOPE)
  endfunction()
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/written)
  breakeven_writes(breakeven.1 ${CMAKE_INSTALL_MANDIR}/man1 man)
  breakeven_writes(breakeven ${CMAKE_INSTALL_DATADIR}/bash-completion/completions completion bash)
  breakeven_writes(_breakeven ${CMAKE_INSTALL_DATADIR}/zsh/site-functions completion zsh)
  breakeven_writes(breakeven.fish ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d completion fish)
  add_custom_target(breakeven_written ALL DEPENDS ${written})
endif()
