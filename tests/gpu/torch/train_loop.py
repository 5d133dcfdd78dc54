# A plain training loop on the default stream: an embedding, two transformer layers, a convolution,
# dropout, cross entropy, AdamW, batches uploaded without blocking from pinned memory that is not
# written again. Nothing in it races.
# EXPECT racy: clean
# EXPECT fixed: clean
import os
import sys

import torch
from torch import nn

STEPS = int(os.environ.get("STEPS", 50))
BATCH, LENGTH, WIDTH, WORDS = 16, 64, 128, 1000
if not torch.cuda.is_available():
    sys.exit("no CUDA device")

torch.manual_seed(7)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(WORDS, WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2)
        self.mix = nn.Conv1d(WIDTH, WIDTH, 3, padding=1)
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, tokens):
        x = self.layers(self.embed(tokens))
        return self.head(torch.relu(self.mix(x.transpose(1, 2))).transpose(1, 2))


model = Model().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
batches = [torch.randint(0, WORDS, (BATCH, LENGTH)).pin_memory() for _ in range(4)]
losses = []
for step in range(STEPS):
    tokens = batches[step % len(batches)].cuda(non_blocking=True)
    optimizer.zero_grad(set_to_none=True)
    loss = nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if step % 10 == 0 or step == STEPS - 1:
        losses.append(loss.item())

print(f"steps={STEPS} falls={losses[-1] < losses[0]}")
sys.exit(0 if losses[-1] < losses[0] else 2)
