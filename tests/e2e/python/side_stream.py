"""Two streams of the driver, by ctypes: a copy on one reads what a memset on the other writes (side_stream.py DRIVER)."""
import ctypes
import sys
import threading

driver = ctypes.CDLL(sys.argv[1])
SIZE = 4096


def check(code):
    if code:
        sys.exit(f"error {code}")


def made(name, *args, kind=ctypes.c_void_p):
    made_object = kind()
    check(getattr(driver, name)(ctypes.byref(made_object), *args))
    return made_object


class Loader:
    def __init__(self):
        self.producer, self.consumer = made("cuStreamCreate", 1), made("cuStreamCreate", 1)
        self.device = made("cuMemAlloc_v2", ctypes.c_size_t(SIZE), kind=ctypes.c_uint64)  # @alloc
        self.host = made("cuMemHostAlloc", ctypes.c_size_t(SIZE), 0)

    def fill(self):
        check(driver.cuMemsetD32Async(self.device, 7, ctypes.c_size_t(SIZE // 4), self.producer))  # @first

    def drain(self):
        return [check(driver.cuMemcpyDtoHAsync_v2(self.host, self.device, ctypes.c_size_t(SIZE), self.consumer))  # @then
                for _ in range(1)]


def main():
    check(driver.cuInit(0))
    context = made("cuCtxCreate_v2", 0, 0)
    loader = Loader()
    loader.fill()
    thread = threading.Thread(target=lambda: (check(driver.cuCtxSetCurrent(context)), loader.drain()))
    thread.start()
    thread.join()
    check(driver.cuCtxSynchronize())
    print("done")


main()
