ssan_test(base_containers SOURCES base_containers.c LINKS ssan_base)
ssan_test(base_similar SOURCES base_similar.c LINKS ssan_base)
ssan_test(base_file SOURCES base_file.c LINKS ssan_base)
