foreach(name agree altered run)
    ssan_test(audit_${name} SOURCES audit_${name}.c LINKS ssan_audit ssan_core ssan_trace_tool)
endforeach()
