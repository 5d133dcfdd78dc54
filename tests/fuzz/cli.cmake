ssan_fuzz(cli_options SOURCES cli_options.c LINKS ssan_cli)
ssan_fuzz(cli_suppressions SOURCES cli_suppressions.c LINKS ssan_cli golden_fixtures)
