ssan_fuzz(cc_options SOURCES cc_options.c LINKS ssan_cc)
