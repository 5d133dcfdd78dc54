if(TARGET ssan_ptx)
    foreach(name host kernel memory no_memory order per_thread stream trace)
        ssan_test(vcuda_${name} SOURCES vcuda_${name}.c vcuda_support.c LINKS ssan_vcuda ssan_trace_tool)
        set_tests_properties(vcuda_${name} PROPERTIES LABELS threads)
        target_include_directories(test_vcuda_${name} PRIVATE ${CMAKE_SOURCE_DIR}/src/cc/include)
    endforeach()
    # A weak reference takes nothing out of a library.
    target_link_options(test_vcuda_trace PRIVATE -Wl,-u,ssan_annotate)
endif()
