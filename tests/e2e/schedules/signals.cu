// Ends, or not, by a signal that is sent to it after CUDA has begun.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <unistd.h>
static void on_signal(int number)
{
    printf("caught %d\n", number);
}
int main(int count, char **words)
{
    int number = atoi(words[1]);
    char *p;
    if (count > 3) {
        signal(number, on_signal);
    }
    cudaMalloc(&p, 16);
    if (words[2][0] == 'k') {
        kill(getpid(), number);
    } else {
        raise(number);
    }
    puts("went on");
    return 0;
}
