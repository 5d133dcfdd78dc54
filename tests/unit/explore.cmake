foreach(name model snapshot invert)
    ssan_test(explore_${name} SOURCES explore_${name}.c LINKS ssan_explore ssan_core)
endforeach()
