add_executable(bench_trace trace_bench.c)
target_include_directories(bench_trace PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/tests)
target_link_libraries(bench_trace PRIVATE ssan_flags ssan_trace_tool)
