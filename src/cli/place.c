/* The tool's own place comes from the kernel, so links to it and PATH do not matter. */
#include "cli/place.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Cuts the last part off a path. */
static bool up(char *path)
{
    char *slash = strrchr(path, '/');
    if (!slash) {
        return false;
    }
    *slash = '\0';
    return true;
}

bool place_library(char *path, size_t room)
{
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0) {
        return false;
    }
    self[length] = '\0';
    return up(self) && up(self) && snprintf(path, room, "%s/lib/streamsan", self) < (int)room;
}
