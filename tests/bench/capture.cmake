# Compared with backtrace(3), and with libunwind if it is there.
add_library(bench_stack_frames SHARED ${CMAKE_CURRENT_SOURCE_DIR}/stack_frames.c)
target_compile_options(bench_stack_frames PRIVATE -O2 -fomit-frame-pointer -fasynchronous-unwind-tables)
add_executable(bench_stack stack_bench.c)
target_include_directories(bench_stack PRIVATE ${CMAKE_SOURCE_DIR}/src)
target_link_libraries(bench_stack PRIVATE ssan_flags ssan_stack bench_stack_frames ${CMAKE_DL_LIBS})

add_executable(bench_leaves leaves_bench.c)
target_include_directories(bench_leaves PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/tests)
target_link_libraries(bench_leaves PRIVATE ssan_flags ssan_capture ssan_trace_tool)
