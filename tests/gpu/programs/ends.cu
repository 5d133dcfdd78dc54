/* Ends in the way that its argument says, in the middle of its work: what was accepted before must be readable.
 *
 * kill: SIGKILL while kernels are pending. abort: abort() there. exit: _exit(5) there. illegal: a kernel writes where nothing is.
 * trap: a kernel traps. racy-kill: as kill, behind two kernels that race on `shared`. children: a fork child that uses nothing and
 * an exec'ed child that works. Prints a line before it ends. */
#include <cuda_runtime.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

static const int N = 1 << 16;

__global__ void work(int *data, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] = data[i] * 3 + value;
}

__global__ void astray(int *data)
{
    data[(size_t)1 << 40] = 1;
}

__global__ void trapped(int *data)
{
    if (data[0] >= 0) {
        asm volatile("trap;");
    }
}

static void must(cudaError_t result)
{
    if (result != cudaSuccess) {
        std::printf("%s\n", cudaGetErrorName(result));
        std::fflush(stdout);
        std::exit(3);
    }
}

static int child(char *self)
{
    pid_t pid = fork();
    if (pid == 0) {
        _exit(0);
    }
    waitpid(pid, nullptr, 0);
    pid = fork();
    if (pid == 0) {
        execl(self, self, "plain", (char *)nullptr);
        _exit(127);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "plain";
    int *data, *other;
    cudaStream_t streams[2];
    if (!std::strcmp(how, "children")) {
        int code = child(argv[0]);
        std::printf("child ended with %d\n", code);
        return code;
    }
    must(cudaMalloc(&data, N * sizeof(int)));
    must(cudaMalloc(&other, N * sizeof(int)));
    must(cudaMemset(data, 0, N * sizeof(int)));
    must(cudaMemset(other, 0, N * sizeof(int)));
    must(cudaDeviceSynchronize());
    for (cudaStream_t &stream : streams) {
        must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    }
    bool racy = !std::strcmp(how, "racy-kill");
    for (int i = 0; i < 20; ++i) {
        work<<<N / 256, 256, 0, streams[0]>>>(data, i);
        work<<<N / 256, 256, 0, streams[1]>>>(racy ? data : other, i);
        must(cudaGetLastError());
        if (i == 9) {
            must(cudaDeviceSynchronize());
        }
    }
    std::printf("accepted 40 launches\n");
    std::fflush(stdout);
    if (!std::strcmp(how, "kill") || racy) {
        raise(SIGKILL);
    } else if (!std::strcmp(how, "abort")) {
        std::abort();
    } else if (!std::strcmp(how, "exit")) {
        _exit(5);
    } else if (!std::strcmp(how, "illegal")) {
        astray<<<1, 1, 0, streams[0]>>>(data);
    } else if (!std::strcmp(how, "trap")) {
        trapped<<<1, 1, 0, streams[0]>>>(data);
    }
    must(cudaDeviceSynchronize());
    must(cudaFree(data));
    must(cudaFree(other));
    std::printf("done\n");
    return 0;
}
