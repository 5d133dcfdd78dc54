ssan_test(base_containers SOURCES base_containers.c LINKS ssan_base)
