ssan_test(base_containers SOURCES base_containers.c LINKS ssan_base)
ssan_test(base_child SOURCES base_child.c LINKS ssan_base)
ssan_test(base_columns SOURCES base_columns.c LINKS ssan_base)
ssan_test(base_ctext SOURCES base_ctext.c LINKS ssan_base)
ssan_test(base_similar SOURCES base_similar.c LINKS ssan_base)
ssan_test(base_elf SOURCES base_elf.c LINKS ssan_base)
ssan_test(base_file SOURCES base_file.c LINKS ssan_base)
# The demangler is the program's own: of its C++ library, which nothing else here asks for.
ssan_test(base_demangle SOURCES base_demangle.c LINKS ssan_base -Wl,--no-as-needed stdc++)
