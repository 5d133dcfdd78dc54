/* Clang's header of warp intrinsics asks for a file of this name; its contents are in ssan/device_functions.h. */
