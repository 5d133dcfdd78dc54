add_library(fuzz_trace_support STATIC ${CMAKE_SOURCE_DIR}/tests/unit/trace_random.c)
target_include_directories(fuzz_trace_support PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/tests)
target_link_libraries(fuzz_trace_support PRIVATE ssan_flags PUBLIC ssan_trace_tool)

foreach(name reader record listing)
    ssan_fuzz(trace_${name} SOURCES trace_${name}.c LINKS fuzz_trace_support)
endforeach()
