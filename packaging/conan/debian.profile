# Debian 12's libraries (tools/setup.sh) in the place of ConanCenter's: what `make test-recipes` builds with.
include(default)

[settings]
build_type=Release
compiler.cppstd=20

[platform_requires]
eigen/3.4.0
fmt/9.1.0
onetbb/2021.8.0
highway/1.0.3
zlib/1.2.13
nlohmann_json/3.11.2
openblas/0.3.21
cli11/2.3.2
