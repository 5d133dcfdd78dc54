foreach(name arrays exact)
    ssan_test(compare_${name} SOURCES compare_${name}.c LINKS ssan_compare m)
endforeach()
