ssan_test(ptx_opcodes SOURCES ptx_opcodes.c ptx_support.c LINKS ssan_ptx)
set_source_files_properties(ptx_opcodes.c PROPERTIES COMPILE_OPTIONS "-ffp-contract=off;-frounding-math")
