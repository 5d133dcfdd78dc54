add_executable(bench_engine engine_bench.c)
target_include_directories(bench_engine PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/tests)
target_link_libraries(bench_engine PRIVATE ssan_flags ssan_core)
