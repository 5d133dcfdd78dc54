#include <vector>
#include <string>
#include <thread>
#include <mutex>
#include <atomic>
#include <functional>
#include <memory>
#include <random>
#include <complex>
#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>
#include <unordered_map>
#include <set>
#include <array>
#include <limits>
#include <numeric>
#include <tuple>
#include <future>
#include <condition_variable>
#include <sstream>
#include <fstream>
#include <iomanip>
#include <list>
#include <deque>
#include <queue>
#include <stdexcept>
#include <utility>
#include <type_traits>
#include <initializer_list>
#include <bitset>
#ifndef NO_REGEX
#include <regex>
#endif
#if __cplusplus >= 201703L
#include <optional>
#include <variant>
#include <string_view>
#include <filesystem>
#include <any>
#endif
#if __cplusplus >= 202002L
#include <span>
#include <concepts>
#include <ranges>
#include <numbers>
#include <barrier>
#include <semaphore>
#include <latch>
#endif
#include <cassert>
#include <stdio.h>
__global__ void k(float *p, int n)
{
    int i = threadIdx.x;
    if (i < n)
        p[i] = std::max(sinf(p[i]), 0.5f) + std::sqrt(p[i]);
    assert(n > 0);
    printf("%d %f\n", i, p[i]);
}
int main()
{
    float *d;
    std::vector<float> v(32);
    std::shared_ptr<int> q = std::make_shared<int>(3);
    std::thread t([] {});
    t.join();
    cudaMalloc(&d, 32 * sizeof(float));
    k<<<1, 32>>>(d, 32);
    cudaMemcpy(v.data(), d, 128, cudaMemcpyDeviceToHost);
    std::cout << v[0] << std::min(3, *q) << min(3, 4) << max(2.0f, 1.0f) << "\n";
    std::complex<float> c(1, 2);
    std::cout << abs(c) << std::abs(-3.0) << "\n";
}
