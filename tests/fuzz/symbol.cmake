ssan_fuzz(symbol_cubin SOURCES symbol_cubin.c LINKS ssan_symbol)
