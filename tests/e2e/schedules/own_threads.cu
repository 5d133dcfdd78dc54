// No thread but the program's own takes its signals, host functions excepted while they run.
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <dirent.h>
#include <unistd.h>
static bool takes_term()
{
    sigset_t now;
    pthread_sigmask(SIG_SETMASK, nullptr, &now);
    return !sigismember(&now, SIGTERM);
}
static void inside(void *taken)
{
    *(bool *)taken = takes_term();
}
// Threads other than this one that a SIGTERM or SIGBUS to the process could go to.
static int others()
{
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    while (dirent *task = readdir(tasks)) {
        char path[300], line[200];
        uint64_t blocked = 0;
        if (atoi(task->d_name) == 0 || atoi(task->d_name) == getpid()) {
            continue;
        }
        snprintf(path, sizeof path, "/proc/self/task/%s/status", task->d_name);
        FILE *status = fopen(path, "r");
        while (fgets(line, sizeof line, status)) {
            sscanf(line, "SigBlk: %" SCNx64, &blocked);
        }
        fclose(status);
        count += !(blocked >> (SIGTERM - 1) & blocked >> (SIGBUS - 1) & 1);
    }
    closedir(tasks);
    return count;
}
int main()
{
    char *p;
    bool taken = false;
    cudaMalloc(&p, 16);
    cudaMemset(p, 0, 16);
    cudaLaunchHostFunc(0, inside, &taken);
    cudaDeviceSynchronize();
    printf("others=%d host function=%d self=%d\n", others(), taken, takes_term());
    return 0;
}
