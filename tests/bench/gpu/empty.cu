/* Launches of a kernel that does nothing: what a launch costs on the host, and nothing else. */
#include "timing.cuh"

__global__ void empty() {}

int main()
{
    measure("empty", 5000, 4, [] { empty<<<1, 1>>>(); });
    return 0;
}
