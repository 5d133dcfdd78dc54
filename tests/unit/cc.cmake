ssan_test(cc_job SOURCES cc_job.c LINKS ssan_cc)

# The driver and the headers against every clang of this machine; slow parts are programs of their own.
add_executable(cc_driver cc_driver.c)
target_include_directories(cc_driver PRIVATE ${CMAKE_SOURCE_DIR}/src)
target_link_libraries(cc_driver PRIVATE ssan_flags ssan_cc)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
foreach(part headers driver lines library cases programs)
    add_test(NAME cc_${part} COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tests/e2e/cc_${part}.py)
    set_tests_properties(cc_${part} PROPERTIES
        LABELS "slow;cc" COST 20
        ENVIRONMENT "CC_DRIVER=$<TARGET_FILE:cc_driver>;CC_LIB_DIR=${SSAN_LIB_DIR};PYTHONDONTWRITEBYTECODE=1")
endforeach()
