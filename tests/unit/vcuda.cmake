if(TARGET ssan_ptx)
    foreach(name host kernel memory no_memory order per_thread stream trace)
        ssan_test(vcuda_${name} SOURCES vcuda_${name}.c vcuda_support.c LINKS ssan_vcuda ssan_trace_tool)
        target_include_directories(test_vcuda_${name} PRIVATE ${CMAKE_SOURCE_DIR}/src/cc/include)
    endforeach()
    # The two left out submit from one thread, over and over.
    ssan_thread_tests(OPTIONS suppressions=${CMAKE_CURRENT_SOURCE_DIR}/tsan.supp
        TESTS vcuda_host vcuda_kernel vcuda_memory vcuda_per_thread vcuda_stream vcuda_trace)
    set_tests_properties(vcuda_kernel PROPERTIES COST 10)
    target_link_libraries(test_vcuda_no_memory PRIVATE ssan_core)
    # A weak reference takes nothing out of a library.
    target_link_options(test_vcuda_trace PRIVATE -Wl,-u,ssan_annotate)
endif()
