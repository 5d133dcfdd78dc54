ssan_test(cli_quoted SOURCES cli_quoted.c LINKS ssan_cli)
ssan_test(cli_options SOURCES cli_options.c LINKS ssan_cli)
ssan_test(cli_folder SOURCES cli_folder.c LINKS ssan_cli)
ssan_test(cli_target SOURCES cli_target.c LINKS ssan_cli)
