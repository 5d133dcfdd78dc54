"""A transformer layer forward and backward, and a step of a convolution net, timed as timing.cuh does (torch_steps.py [name...]).

`layer`: 8 x 128 words of width 512 in bfloat16, as in a small model: the host is the bound. `layer-fp32`: the same in float32,
whose products run without tensor maps. `layer-large`: 8 x 1024 words of width 1024 in bfloat16: the device is the bound.
`conv`: three blocks of convolution, normalisation and pooling, 32 images of 64 x 64, with the optimizer's step.
"""
import os
import sys
import time

import torch
from torch import nn

ROUNDS = int(os.environ.get("ROUNDS", 10))
torch.manual_seed(7)


def measure(name, steps, step):
    times = []
    for number in range(ROUNDS + 1):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(steps):
            step()
        torch.cuda.synchronize()
        if number:
            times.append(1e3 * (time.perf_counter() - start) / steps)
    times.sort()
    print(f"{name} ms={times[0]:.5f} median={times[len(times) // 2]:.5f} rounds={ROUNDS}", flush=True)


def layer(words, width, dtype):
    model = nn.TransformerEncoderLayer(width, 8, 4 * width, dropout=0.1, batch_first=True).cuda().to(dtype)
    x = torch.randn(8, words, width, device="cuda", dtype=dtype, requires_grad=True)

    def step():
        model.zero_grad(set_to_none=True)
        model(x).square().mean().backward()
    return step


def conv():
    def block(old, new):
        return nn.Sequential(nn.Conv2d(old, new, 3, padding=1, bias=False), nn.BatchNorm2d(new), nn.ReLU(), nn.MaxPool2d(2))

    model = nn.Sequential(block(3, 64), block(64, 128), block(128, 256), nn.Flatten(), nn.Linear(256 * 64, 100)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    images = torch.randn(32, 3, 64, 64, device="cuda")
    labels = torch.randint(0, 100, (32,), device="cuda")

    def step():
        optimizer.zero_grad(set_to_none=True)
        nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()
    return step


STEPS = {"layer": (10, lambda: layer(128, 512, torch.bfloat16)), "layer-fp32": (10, lambda: layer(128, 512, torch.float32)),
         "layer-large": (5, lambda: layer(1024, 1024, torch.bfloat16)), "conv": (10, conv)}
for asked in sys.argv[1:] or STEPS:
    measure(asked, STEPS[asked][0], STEPS[asked][1]())
