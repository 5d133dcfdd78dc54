ssan_fuzz(compare_npy SOURCES compare_npy.c LINKS ssan_compare)
