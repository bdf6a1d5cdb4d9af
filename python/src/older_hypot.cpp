// SPDX-License-Identifier: Apache-2.0
//
// What the linker takes for hypot in a wheel (python/CMakeLists.txt).
extern "C" double older_hypot(double x, double y);
__asm__(".symver older_hypot, hypot@GLIBC_2.2.5");

extern "C" double __wrap_hypot(double x, double y);
double __wrap_hypot(double x, double y) { return older_hypot(x, y); }
