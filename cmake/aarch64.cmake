# GCC's cross compiler for 64-bit Arm (gcc-aarch64-linux-gnu), for the injected library alone: machines such as GH200 and
# DGX Spark. Preset aarch64.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
