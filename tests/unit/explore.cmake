foreach(name count gates invert model schedule search snapshot)
    ssan_test(explore_${name} SOURCES explore_${name}.c LINKS ssan_explore ssan_core)
endforeach()
