/* A queue of at most so many values between host threads. Its hand-overs are told to streamsan. */
#ifndef DFLASH_QUEUE_H
#define DFLASH_QUEUE_H

#include <streamsan/annotate.h>

#include <condition_variable>
#include <mutex>
#include <queue>

template <typename T> class bounded_queue {
  public:
    explicit bounded_queue(size_t most) : most(most)
    {
    }
    bounded_queue(bounded_queue &&other) : most(other.most)
    {
    }

    /* Waits while the queue is full. */
    void put(T value)
    {
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [&] { return values.size() < most; });
        SSAN_HAPPENS_BEFORE(this);
        values.push(value);
        changed.notify_all();
    }

    /* Waits while it is empty. */
    T take()
    {
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [&] { return !values.empty(); });
        T value = values.front();
        values.pop();
        SSAN_HAPPENS_AFTER(this);
        changed.notify_all();
        return value;
    }

  private:
    std::mutex mutex;
    std::condition_variable changed;
    std::queue<T> values;
    size_t most;
};

#endif
