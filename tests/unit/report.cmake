ssan_test(report_text SOURCES report_text.c LINKS golden_fixtures ssan_report ssan_core ssan_trace)
ssan_test(report_json SOURCES report_json.c LINKS golden_fixtures ssan_report ssan_core ssan_trace)
ssan_test(report_verdict SOURCES report_verdict.c LINKS golden_fixtures ssan_report ssan_core ssan_trace)
ssan_test(report_suppress SOURCES report_suppress.c LINKS golden_fixtures ssan_report ssan_core ssan_trace)
