#!/usr/bin/env python3
"""Time of the minimum-eigenvalue loss and its gradient in PyTorch, on the data of `depth.rs`.

    python benches/depth_torch.py map.json [--threads N]
"""

import argparse
import json
import statistics
import time

import torch


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    data = json.load(open(arguments.data))
    rows = torch.tensor(data["measurements"], dtype=torch.float64)
    origin, beam, depth, incidence = rows[:, :3], rows[:, 3:6], rows[:, 6], rows[:, 7]
    lists = data["neighbourhoods"]
    widest = max(map(len, lists))
    index = torch.tensor([n + [0] * (widest - len(n)) for n in lists])
    mask = torch.tensor([[1.0] * len(n) + [0.0] * (widest - len(n)) for n in lists],
                        dtype=torch.float64)[..., None]
    count = mask.sum(1)
    powers = torch.stack([incidence**2, incidence**4], 1)
    weights = torch.tensor([0.002, 0.004], dtype=torch.float64, requires_grad=True)

    def loss():
        points = origin + beam * (depth - powers @ weights)[:, None]
        near = points[index] * mask
        off = (near - (near.sum(1) / count)[:, None]) * mask
        covariance = off.transpose(1, 2) @ off / (count - 1)[..., None]
        return torch.linalg.eigvalsh(covariance)[:, 0].mean()

    times = []
    for _ in range(15):
        weights.grad = None
        start = time.process_time(), time.perf_counter()
        value = loss()
        value.backward()
        times.append((time.process_time() - start[0], time.perf_counter() - start[1]))
    print(f"torch {torch.__version__}, {arguments.threads} threads, loss {value.item():e}, "
          f"gradient {weights.grad.tolist()}")
    used = statistics.median(t for t, _ in times)
    least = min(t for _, t in times)
    print(f"loss and gradient: {1e3 * used:.1f} ms of CPU time (median), "
          f"{1e3 * least:.1f} ms of wall-clock time (minimum)")


if __name__ == "__main__":
    main()
