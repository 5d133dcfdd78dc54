add_library(trace_test_support STATIC trace_files.c trace_random.c)
target_include_directories(trace_test_support PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/tests)
target_link_libraries(trace_test_support PRIVATE ssan_flags PUBLIC ssan_trace_tool)

foreach(name damage forms gate kill listing observe plan session writer)
    ssan_test(trace_${name} SOURCES trace_${name}.c LINKS trace_test_support)
endforeach()
ssan_thread_tests(TESTS trace_kill trace_writer)
set_tests_properties(trace_kill PROPERTIES COST 10)
