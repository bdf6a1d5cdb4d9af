include(CMakePackageConfigHelpers)
set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/fansite)

install(TARGETS fansite EXPORT fansite-targets)
# Headers that say "Private" stay at home.
install(DIRECTORY fansite DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h"
  PATTERN "container.h" EXCLUDE
  PATTERN "csv_cells.h" EXCLUDE
  PATTERN "denormals.h" EXCLUDE
  PATTERN "density_kernel.h" EXCLUDE
  PATTERN "differentiable_kernel.h" EXCLUDE
  PATTERN "differentiable_learner.h" EXCLUDE
  PATTERN "frontier.h" EXCLUDE
  PATTERN "gaussian_kernel.h" EXCLUDE
  PATTERN "gaussian_process.h" EXCLUDE
  PATTERN "graph_search.h" EXCLUDE
  PATTERN "*-inl.h" EXCLUDE
  PATTERN "json_text.h" EXCLUDE
  PATTERN "learner_kernel.h" EXCLUDE
  PATTERN "page_files.h" EXCLUDE
  PATTERN "search_growth.h" EXCLUDE
  PATTERN "search_pairs.h" EXCLUDE
  PATTERN "simulate_equations.h" EXCLUDE
  PATTERN "single_threaded_blas.h" EXCLUDE
  PATTERN "text.h" EXCLUDE
  PATTERN "vectorise.h" EXCLUDE
  PATTERN "zip.h" EXCLUDE)
install(EXPORT fansite-targets NAMESPACE fansite:: DESTINATION ${config_dir})
if(FANSITE_BUILD_CLI)
  install(TARGETS fansite_cli)
endif()

configure_package_config_file(cmake/fansite-config.cmake.in ${PROJECT_BINARY_DIR}/fansite-config.cmake
  INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/fansite-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/fansite-config.cmake ${PROJECT_BINARY_DIR}/fansite-config-version.cmake
  DESTINATION ${config_dir})
