include(CMakePackageConfigHelpers)
set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/fansite)

install(TARGETS fansite EXPORT fansite-targets)
# Headers that say "Private" above their #pragma once, and those that are included several times, stay at home.
file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/fansite/*.h)
foreach(header IN LISTS headers)
  file(READ ${PROJECT_SOURCE_DIR}/${header} words LIMIT 1000)
  string(REGEX REPLACE "#pragma once.*" "" words "${words}")
  if(words MATCHES "Private" OR header MATCHES "-inl\\.h$")
    continue()
  endif()
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
