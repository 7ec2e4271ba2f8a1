"""Runs a kernel (FILE) with every number of stages from 1 to 5 and every number of
trips of its K loop from 0 to 8, each with another order of the warps, and prints
what did not agree with the reference."""

import subprocess
import sys

FILE = sys.argv[1]
TARGETS = ["sm_80", "sm_120a"]
M, N, STEP = 37, 44, 64

failed = runs = 0
for stages in range(1, 6):
    for trips in range(9):
        k = trips * STEP
        command = ["tile-lane-run", "--check", FILE, f"--target={','.join(TARGETS)}"]
        command += [f"-DKA={STEP}", "-DBM=32", "-DBN=32", f"-DBK={STEP}", "--grid=2,2"]
        command += [f"--num-stages={stages}", f"--schedule={9 * stages + trips}"]
        command += [f"out:{M}x{N}:stride=48", f"in:{M}x{k // 2}", f"in:{N}x{k // 2}"]
        command += [f"in:{M}x{k // 16}:scale", f"in:{N}x{k // 16}:scale", "val:0.5"]
        result = subprocess.run(command, capture_output=True, text=True)
        expected = "".join(f"{t}: {M * N} elements agree\n" for t in TARGETS)
        runs += 1
        if result.returncode or result.stdout != expected:
            failed += 1
            print(f"{stages} stages, {trips} trips:\n{result.stdout}{result.stderr}")
print(f"{runs} runs, {failed} failed")
sys.exit(failed > 0)
