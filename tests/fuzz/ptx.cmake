ssan_fuzz(ptx_parser SOURCES ptx_parser.c LINKS ssan_ptx)
