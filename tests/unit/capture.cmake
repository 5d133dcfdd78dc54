# Stacks through code that keeps no frame pointer, in libraries of their own.
add_library(ssan_test_frames SHARED ${CMAKE_CURRENT_SOURCE_DIR}/capture_frames.c
    ${CMAKE_CURRENT_SOURCE_DIR}/capture_frames_cxx.cpp)
target_compile_options(ssan_test_frames PRIVATE -O2 -fomit-frame-pointer -fasynchronous-unwind-tables)
foreach(name a b)
    add_library(ssan_test_frames_${name} MODULE ${CMAKE_CURRENT_SOURCE_DIR}/capture_reloaded.c)
    target_compile_options(ssan_test_frames_${name} PRIVATE -O2 -fomit-frame-pointer -fasynchronous-unwind-tables)
endforeach()
target_compile_definitions(ssan_test_frames_a PRIVATE SSAN_TEST_FRAME_BYTES=200)
target_compile_definitions(ssan_test_frames_b PRIVATE SSAN_TEST_FRAME_BYTES=80)

ssan_test(capture_stack SOURCES capture_stack.c LINKS ssan_stack ssan_test_frames ${CMAKE_DL_LIBS})
target_compile_definitions(test_capture_stack PRIVATE SSAN_TEST_FRAMES_A="$<TARGET_FILE:ssan_test_frames_a>"
    SSAN_TEST_FRAMES_B="$<TARGET_FILE:ssan_test_frames_b>")
add_dependencies(test_capture_stack ssan_test_frames_a ssan_test_frames_b)
# The test's own sink takes memory, also below a signal handler.
ssan_thread_tests(OPTIONS report_signal_unsafe=0 TESTS capture_stack)

ssan_test(capture_gate SOURCES capture_gate.c LINKS ssan_capture)

ssan_test(capture_record SOURCES capture_record.c ${CMAKE_SOURCE_DIR}/tests/support/warp.c LINKS ssan_capture)
ssan_test(capture_lookup SOURCES capture_lookup.c ${CMAKE_SOURCE_DIR}/tests/support/warp.c LINKS ssan_base)

ssan_test(capture_memory SOURCES capture_memory.c LINKS ssan_capture)
ssan_test(capture_nvtx SOURCES capture_nvtx.c LINKS ssan_capture LABELS threads)
ssan_test(capture_borrow SOURCES capture_borrow.c LINKS ssan_capture LABELS threads)

# The same library, loaded into each Python that is here.
add_library(ssan_test_python MODULE ${CMAKE_CURRENT_SOURCE_DIR}/capture_python.c)
target_include_directories(ssan_test_python PRIVATE ${CMAKE_SOURCE_DIR}/src)
target_link_libraries(ssan_test_python PRIVATE ssan_flags ssan_stack)
find_program(SSAN_PYTHON3 python3 REQUIRED)
set(pythons ${SSAN_PYTHON3})
foreach(minor 9 10 11 12 13)
    list(APPEND pythons /usr/bin/python3.${minor})
    file(GLOB more $ENV{HOME}/.pyenv/versions/3.${minor}.*/bin/python3)
    list(APPEND pythons ${more})
endforeach()
if(NOT SSAN_SANITIZE)
    add_test(NAME capture_python COMMAND ${SSAN_PYTHON3} ${CMAKE_CURRENT_SOURCE_DIR}/capture_python.py
        $<TARGET_FILE:ssan_test_python> ${pythons})
endif()
ssan_test(capture_cubin SOURCES capture_cubin.c ${CMAKE_SOURCE_DIR}/tests/support/cubin_file.c LINKS ssan_capture)
ssan_test(capture_leaves SOURCES capture_leaves.c ${CMAKE_SOURCE_DIR}/tests/support/cubin_file.c LINKS ssan_capture)
ssan_test(capture_footprint SOURCES capture_footprint.c LINKS ssan_capture)
ssan_test(capture_windows SOURCES capture_windows.c LINKS ssan_capture)
ssan_test(capture_hints SOURCES capture_hints.c LINKS ssan_capture)
ssan_test(capture_drain SOURCES capture_drain.c LINKS ssan_capture)
ssan_test(capture_claims SOURCES capture_claims.c LINKS ssan_capture)
