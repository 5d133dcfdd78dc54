# How every target of the project is built: one function for libraries, one for what programs link of them, one for tests.
#
# ssan_library(name FOLDER folder SOURCES ... SEES folders... LINKS targets...)
#   A static library of src/<folder>. Its include path holds the folders in SEES and its own, as links in
#   build/.../see/<name>, and nothing else: an include across layers does not compile.
# ssan_program_library(name OF target NAMES pattern LIBS words DESCRIPTION text)
#   What programs link: one object of the target, streamsan-<name>.o, in which only these names are global, so that nothing
#   of ours can meet a name of the program; as lib/libstreamsan-<name>.a with a file for pkg-config, built by the target
#   ssan_<name>_installed. Builds with sanitizers have none: tests there link the target. With coverage the archive is that of
#   the device's own build (src/vcuda), as ssan_<name>_uncounted: programs link no counters.
# ssan_test(name SOURCES ... LINKS ... [LABELS ...])
#   A test program with cmocka that sees all of src. Its name begins with the folder under test. Tests that take long have
#   the property COST, about their seconds under a sanitizer, so that ctest begins with them.
# ssan_thread_tests(OPTIONS options... TESTS names...)
#   Marks tests with the label `threads`, which the thread sanitizer's build runs, under these options of its own.

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

add_library(ssan_flags INTERFACE)
target_compile_options(ssan_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef
    -Wno-unused-parameter -fvisibility=hidden -fno-omit-frame-pointer)
if(NOT CMAKE_C_COMPILER_ID STREQUAL "" AND NOT DEFINED SSAN_NO_WERROR)
    target_compile_options(ssan_flags INTERFACE -Werror)
endif()
target_compile_definitions(ssan_flags INTERFACE _GNU_SOURCE STREAMSAN_VERSION="${PROJECT_VERSION}")
if(SSAN_SANITIZE)
    target_compile_options(ssan_flags INTERFACE -fsanitize=${SSAN_SANITIZE} -fno-sanitize-recover=all)
    target_link_options(ssan_flags INTERFACE -fsanitize=${SSAN_SANITIZE})
    if(SSAN_SANITIZE MATCHES thread AND CMAKE_C_COMPILER_ID STREQUAL GNU)
        # Fences are not modelled by it: a warning, and what they order would be reported.
        target_compile_options(ssan_flags INTERFACE -Wno-tsan)
    endif()
endif()

if(SSAN_COVERAGE)
    # Our own code and tests count the lines they run; scripts/coverage reads the counts.
    if(NOT CMAKE_C_COMPILER_ID STREQUAL GNU)
        message(FATAL_ERROR "SSAN_COVERAGE needs gcc, whose gcov reads the counts")
    endif()
    target_compile_options(ssan_flags INTERFACE --coverage -fprofile-update=atomic)
    target_link_options(ssan_flags INTERFACE --coverage)
    add_custom_target(coverage-report COMMAND ${CMAKE_SOURCE_DIR}/scripts/coverage ${CMAKE_BINARY_DIR} USES_TERMINAL)
endif()

if(SSAN_STATIC)
    set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
endif()

# ssan_imported(target library...): what a library of pkg-config's needs beside itself once it is an archive.
function(ssan_imported target)
    if(NOT SSAN_STATIC)
        return()
    endif()
    foreach(library ${ARGN})
        find_library(SSAN_ARCHIVE_${library} ${library} REQUIRED)
        set_property(TARGET ${target} APPEND PROPERTY INTERFACE_LINK_LIBRARIES ${SSAN_ARCHIVE_${library}})
    endforeach()
endfunction()

function(ssan_library name)
    cmake_parse_arguments(ARG "" "FOLDER" "SOURCES;SEES;LINKS" ${ARGN})
    add_library(${name} STATIC ${ARG_SOURCES})
    set(see ${CMAKE_BINARY_DIR}/see/${name})
    file(MAKE_DIRECTORY ${see})
    foreach(folder ${ARG_SEES} ${ARG_FOLDER})
        file(CREATE_LINK ${CMAKE_SOURCE_DIR}/src/${folder} ${see}/${folder} SYMBOLIC)
    endforeach()
    target_include_directories(${name} PRIVATE ${see} ${CMAKE_SOURCE_DIR}/include)
    target_link_libraries(${name} PRIVATE ssan_flags PUBLIC ${ARG_LINKS})
endfunction()

function(ssan_program_library name)
    if(SSAN_SANITIZE)
        return()
    endif()
    cmake_parse_arguments(PARSE_ARGV 1 ARG "" "OF;NAMES;LIBS;DESCRIPTION" "")
    set(object ${CMAKE_CURRENT_BINARY_DIR}/streamsan-${name}.o)
    set(archive ${CMAKE_BINARY_DIR}/lib/libstreamsan-${name}.a)
    if(SSAN_COVERAGE)
        # One at a time: they share a build folder.
        set_property(GLOBAL PROPERTY JOB_POOLS ssan_inner=1)
        add_custom_command(OUTPUT ${archive}
            COMMAND ${CMAKE_COMMAND} --build ${CMAKE_BINARY_DIR}/device --target ssan_${name}_installed
            COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_BINARY_DIR}/device/lib/libstreamsan-${name}.a ${archive}
            DEPENDS ${ARG_OF} ssan_device JOB_POOL ssan_inner VERBATIM)
        add_custom_target(ssan_${name}_uncounted ALL DEPENDS ${archive})
        return()
    endif()
    add_custom_command(OUTPUT ${object} ${archive}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/lib
        COMMAND ${CMAKE_LINKER} -r -o ${object} --whole-archive $<TARGET_FILE:${ARG_OF}>
        COMMAND ${CMAKE_OBJCOPY} --wildcard --keep-global-symbol=${ARG_NAMES} ${object}
        COMMAND ${CMAKE_COMMAND} -E rm -f ${archive}
        COMMAND ${CMAKE_AR} rcs ${archive} ${object}
        DEPENDS ${ARG_OF} VERBATIM)
    add_custom_target(ssan_${name}_installed ALL DEPENDS ${archive})
    configure_file(${CMAKE_SOURCE_DIR}/cmake/streamsan-library.pc.in streamsan-${name}.pc @ONLY)
    install(FILES ${archive} DESTINATION lib)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/streamsan-${name}.pc DESTINATION lib/pkgconfig)
endfunction()

function(ssan_test name)
    cmake_parse_arguments(ARG "" "" "SOURCES;LINKS;LABELS" ${ARGN})
    add_executable(test_${name} ${ARG_SOURCES})
    target_include_directories(test_${name} PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/tests
        ${CMAKE_SOURCE_DIR}/include)
    target_link_libraries(test_${name} PRIVATE ssan_flags ${ARG_LINKS} cmocka)
    target_compile_definitions(test_${name} PRIVATE SSAN_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    add_test(NAME ${name} COMMAND test_${name})
    if(ARG_LABELS)
        set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}")
    endif()
endfunction()

# By default the sanitizer waits a second at each process's end, for races of threads that are left; the tests end their
# threads before, and are hundreds of processes.
function(ssan_thread_tests)
    cmake_parse_arguments(ARG "" "" "OPTIONS;TESTS" ${ARGN})
    list(JOIN ARG_OPTIONS ":" options)
    foreach(name ${ARG_TESTS})
        set_property(TEST ${name} APPEND PROPERTY LABELS threads)
        set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT "TSAN_OPTIONS=atexit_sleep_ms=20:${options}")
    endforeach()
endfunction()
