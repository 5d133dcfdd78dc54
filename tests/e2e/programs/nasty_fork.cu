// BUILD:
// ARGS: before
// VERDICT: clean
// EXIT: 0
// STDOUT: child 0
// RUN:
// ARGS: exec
// VERDICT: clean
// EXIT: 0
// STDOUT: child 0
// BUILD: -DRACY
// ARGS: before
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'data' [0,16384) first=kernel:fill then=kernel:take
// RUN: --schedule lazy
// ARGS: exec
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'data' [0,16384) first=kernel:fill then=kernel:take
/* Children that are forked before CUDA is used, or executed after, are checked as their parent
 * is. */
#include "common.h"

#include <sys/wait.h>
#include <unistd.h>

static void work(void)
{
    cudaStream_t a = new_stream(cudaStreamNonBlocking), b = new_stream(cudaStreamNonBlocking);
    cudaEvent_t filled = new_event();
    int *data = new_device(BYTES), *out = new_device(BYTES);
    fill<<<GRID, 256, 0, a>>>(data, 1);
    CK(cudaEventRecord(filled, a));
#ifndef RACY
    CK(cudaStreamWaitEvent(b, filled, 0));
#endif
    take<<<GRID, 256, 0, b>>>(data, out);
    CK(cudaDeviceSynchronize());
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "work";
    bool executes = strcmp(how, "exec") == 0;
    if (strcmp(how, "work") == 0) {
        work();
        return 0;
    }
    if (executes) {
        int *used = new_device(BYTES);
        fill<<<GRID, 256>>>(used, 3);
        CK(cudaDeviceSynchronize());
    }
    pid_t child = fork();
    if (child == 0) {
        if (executes) {
            execl(argv[0], argv[0], "work", (char *)NULL);
            _exit(9);
        }
        work();
        exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    if (!executes) {
        work();
    }
    return 0;
}
