/* Runs the scenario that the first word names. */
#include "capture/program/program.h"

int main(int count, char **words)
{
    return program_run(count > 1 ? words[1] : "");
}
