# PATTERN  A trainer's thread runs forward passes on the default stream and hands the hidden states to a
#          background thread, which packs them on a stream of its own, copies the result to pinned
#          memory and publishes it on a queue. A bounded semaphore limits the batches in flight.
#          Unsafe: the packing stream is never told to wait for the forward pass, and the next pass
#          overwrites the hidden states while they may still be packed. Safe: packing stays on the
#          default stream; only the finished result is copied out, on a copy stream behind an event, and
#          the background thread waits for that copy and publishes. (Which of the two threads submits first,
#          the one that packs a batch or the one that overwrites its states, differs from run to run.)
# EXPECT racy: RAW device between #@FORWARD and #@PACK
# EXPECT fixed: clean
# ALLOW racy: WAR device between #@PACK and #@FORWARD
# REPAIR   Pack on the stream that owns the states; hand over only what is finished, behind an event.
import os
import queue
import sys
import threading

import torch

N = int(os.environ.get("N", 1 << 20))  # elements of one hidden state
FIXED = {"racy": False, "fixed": True}[os.environ.get("VARIANT", "racy")]
BATCHES, LAYERS, IN_FLIGHT = 6, 3, 2
if not torch.cuda.is_available():
    sys.exit("no CUDA device")

torch.set_num_threads(1)
weight = torch.ones(2048, 2048, device="cuda")
product = torch.zeros_like(weight)
source = torch.arange(N, dtype=torch.int32, device="cuda")
hidden = [torch.zeros_like(source) for _ in range(LAYERS)]  # what the hooks of a model capture
packed = [torch.zeros(LAYERS, N, dtype=torch.int32, device="cuda") for _ in range(IN_FLIGHT)]
landing = [torch.zeros(LAYERS, N, dtype=torch.int32, pin_memory=True) for _ in range(IN_FLIGHT)]
main = torch.cuda.current_stream()
side = torch.cuda.Stream()


class Pipeline:
    """One pass over all batches; `safe` says who packs, and where."""

    def __init__(self, safe, scale):
        self.safe, self.scale = safe, scale
        self.slots = threading.BoundedSemaphore(IN_FLIGHT)
        self.jobs, self.published = queue.Queue(), queue.Queue()
        self.thread = threading.Thread(target=self.post_process)

    def forward(self, batch):
        for _ in range(20):
            torch.mm(weight, weight, out=product)
        for layer in range(LAYERS):
            torch.mul(source, self.scale * (batch + 1) + layer, out=hidden[layer])  #@FORWARD

    def pack(self, slot):
        for layer in range(LAYERS):
            packed[slot][layer].copy_(hidden[layer])  #@PACK

    def start_copy(self, slot):
        landing[slot].copy_(packed[slot], non_blocking=True)

    def post_process(self):
        while (job := self.jobs.get()) is not None:
            batch, slot, copied = job
            try:
                if copied is None:
                    with torch.cuda.stream(side):
                        self.pack(slot)
                        self.start_copy(slot)
                        copied = torch.cuda.Event()
                        copied.record()
                copied.synchronize()
                self.published.put((batch, landing[slot].clone()))
            finally:
                self.slots.release()

    def run(self):
        self.thread.start()
        for batch in range(BATCHES):
            self.slots.acquire()
            slot, copied = batch % IN_FLIGHT, None
            self.forward(batch)
            if self.safe:
                self.pack(slot)
                side.wait_stream(main)
                with torch.cuda.stream(side):
                    self.start_copy(slot)
                    copied = torch.cuda.Event()
                    copied.record()
            self.jobs.put((batch, slot, copied))
        self.jobs.put(None)
        self.thread.join()
        return [self.published.get()[1] for _ in range(BATCHES)]


torch.cuda.synchronize()  # set-up is done
Pipeline(True, 2).run()  # safe pass: loads the kernels, leaves other values behind
torch.cuda.synchronize()
results = Pipeline(FIXED, 3).run()
torch.cuda.synchronize()

row = torch.arange(N, dtype=torch.int32)
bad = sum(int((result[layer] != row * (3 * (batch + 1) + layer)).sum()) for batch, result in enumerate(results) for layer in range(LAYERS))
print(f"elements={BATCHES * LAYERS * N} mismatches={bad}")
sys.exit(2 if bad else 0)
