foreach(name bytes clock engine rules)
    ssan_test(core_${name} SOURCES core_${name}.c LINKS ssan_core)
endforeach()
