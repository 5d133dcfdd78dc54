/* `streamsan cc` alone, for tests that need no other part of the tool: cc_driver LIB_DIR options...
 */
#include "cc/cc.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: cc_driver LIB_DIR [options] file...\n");
        return 64;
    }
    return cc_main(argc - 1, argv + 1, argv[1]);
}
