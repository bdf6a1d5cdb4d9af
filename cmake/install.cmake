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
endif()

configure_package_config_file(cmake/fansite-config.cmake.in ${PROJECT_BINARY_DIR}/fansite-config.cmake
  INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/fansite-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/fansite-config.cmake ${PROJECT_BINARY_DIR}/fansite-config-version.cmake
  DESTINATION ${config_dir})
