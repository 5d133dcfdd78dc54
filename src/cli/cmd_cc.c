/* `streamsan cc`: hands its words to the compiler driver. */
#include "cli/commands.h"
#include "cli/place.h"

#include "cc/cc.h"

int cmd_cc(int argc, char **argv)
{
    char folder[4200];
    if (!place_library(folder, sizeof folder)) {
        struct ssan_error err;
        ssan_fail(&err, SSAN_MISSING, 0, "can't tell where streamsan is: /proc is not there");
        return command_fail("cc", &err);
    }
    return cc_main(argc, argv, folder);
}
