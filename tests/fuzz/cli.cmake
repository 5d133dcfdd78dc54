ssan_fuzz(cli_options SOURCES cli_options.c LINKS ssan_cli)
