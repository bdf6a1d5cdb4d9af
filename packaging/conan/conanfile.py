# SPDX-License-Identifier: Apache-2.0
"""The C++ library and the program: `conan create packaging/conan`, in a clone.

`make test-recipes` builds it with Debian's libraries in the place of ConanCenter's (profile).
"""

import re
from pathlib import Path

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load

REPOSITORY = "../.."


class FansiteConan(ConanFile):
    name = "fansite"
    description = "Markov boundaries and causal graphs from tables"
    license = "Apache-2.0"
    topics = ("markov-boundary", "causal-discovery", "feature-selection", "entropy")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False], "d3": ["ANY"]}
    # A shared library asks those who link it for Eigen and fmt alone. OpenBLAS is nothing without its LAPACK here.
    default_options = {"shared": True, "fPIC": True, "d3": "OFF", "openblas/*:build_lapack": True}
    options_description = {"d3": "a d3.min.js of version 5, for the page of `fansite report`; OFF: that command makes none"}
    implements = ["auto_shared_fpic"]

    def set_version(self):
        header = load(self, Path(self.recipe_folder, REPOSITORY, "fansite/base/version.h"))
        self.version = re.search(r'FANSITE_VERSION\s+"([^"]+)"', header)[1]

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "cli/*", "fansite/*"):
            copy(self, pattern, src=Path(self.recipe_folder, REPOSITORY), dst=self.export_sources_folder)

    def requirements(self):
        self.requires("eigen/[>=3.4 <4]", transitive_headers=True)
        self.requires("fmt/[>=9 <13]", transitive_headers=True, transitive_libs=True)
        self.requires("onetbb/[>=2021.8 <2023]")
        self.requires("highway/[>=1.0.3 <2]")
        self.requires("zlib/[>=1.2.11 <2]")
        self.requires("nlohmann_json/[>=3.11 <4]")
        self.requires("openblas/[>=0.3.20 <1]")
        self.requires("cli11/[>=2.3 <3]")

    def validate(self):
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables |= {
            "FANSITE_BUILD_TESTS": False,
            "FANSITE_BUILD_BENCH": False,
            "FANSITE_WERROR": False,
            "FANSITE_CUDA_BUILD": "OFF",
            "FANSITE_D3": str(self.options.d3),
        }
        toolchain.generate()
        found = CMakeDeps(self)
        # The names that cmake/dependencies.cmake asks for.
        found.set_property("highway", "cmake_file_name", "hwy")
        found.set_property("openblas", "cmake_file_name", "BLAS")
        found.set_property("openblas", "cmake_target_name", "BLAS::BLAS")
        found.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", src=self.source_folder, dst=Path(self.package_folder, "licenses"))
        CMake(self).install()

    def package_info(self):
        # The library's own CMake package, which also tells apart what a static and a shared one ask for.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [str(next(Path(self.package_folder).glob("lib*/cmake/fansite")).relative_to(self.package_folder))]
        self.cpp_info.libs = ["fansite"]
