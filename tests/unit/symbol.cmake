ssan_test(symbol_source SOURCES symbol_source.c LINKS ssan_symbol)
ssan_test(symbol_demangle SOURCES symbol_demangle.c LINKS ssan_symbol)
ssan_test(symbol_lines SOURCES symbol_lines.c LINKS ssan_symbol)
target_compile_options(test_symbol_lines PRIVATE -g -O1)
