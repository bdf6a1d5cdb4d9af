include(CMakePackageConfigHelpers)
set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/fansite)

install(TARGETS fansite EXPORT fansite-targets)
# Headers in detail/ are the library's own.
file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/fansite/*.h)
list(FILTER headers EXCLUDE REGEX "/detail/")
foreach(header IN LISTS headers)
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder})
endforeach()
install(EXPORT fansite-targets NAMESPACE fansite:: DESTINATION ${config_dir})
if(FANSITE_BUILD_CLI)
  install(TARGETS fansite_cli)
  if(BUILD_SHARED_LIBS)  # found from the program, wherever both are put
    file(RELATIVE_PATH to_library ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
    set_target_properties(fansite_cli PROPERTIES INSTALL_RPATH "$ORIGIN/${to_library}")
  endif()
  # Manual pages and completions, which the program writes itself, where Debian's shells and man look for them. zsh looks
  # in /usr for those of packages and elsewhere for those of the machine.
  if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
    set(zsh_functions vendor-completions)
  else()
    set(zsh_functions site-functions)
  endif()
  set(written ${PROJECT_BINARY_DIR}/written_by_the_program)
  install(CODE "
    file(MAKE_DIRECTORY \"${written}/bash\" \"${written}/zsh\" \"${written}/fish\")
    foreach(shell_and_file IN ITEMS bash/fansite zsh/_fansite fish/fansite.fish)
      cmake_path(GET shell_and_file PARENT_PATH shell)
      execute_process(COMMAND \"$<TARGET_FILE:fansite_cli>\" completion \${shell}
        OUTPUT_FILE \"${written}/\${shell_and_file}\" COMMAND_ERROR_IS_FATAL ANY)
    endforeach()
    execute_process(COMMAND \"$<TARGET_FILE:fansite_cli>\" help --man-pages \"${written}/man\" COMMAND_ERROR_IS_FATAL ANY)")
  install(DIRECTORY ${written}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(DIRECTORY ${written}/bash/ DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(DIRECTORY ${written}/zsh/ DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/${zsh_functions})
  install(DIRECTORY ${written}/fish/ DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

configure_package_config_file(cmake/fansite-config.cmake.in ${PROJECT_BINARY_DIR}/fansite-config.cmake
  INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/fansite-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/fansite-config.cmake ${PROJECT_BINARY_DIR}/fansite-config-version.cmake
  DESTINATION ${config_dir})
