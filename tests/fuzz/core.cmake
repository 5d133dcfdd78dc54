# The whole way from a listing to a report; the litmus listings are its seeds.
ssan_fuzz(core_explain SOURCES core_explain.c LINKS ssan_report ssan_core ssan_trace_tool
    SEEDS ${CMAKE_SOURCE_DIR}/tests/litmus)
