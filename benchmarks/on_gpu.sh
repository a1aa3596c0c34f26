#!/bin/sh
# Measure what benchmarks/speed.md says about GPUs. Each command takes less than ten minutes on an H200.
set -e
cd "$(dirname "$0")/.."
python=${PYTHON:-python}
"$python" benchmarks/fit_speed.py gpu --sizes 3200,10000,20000
"$python" benchmarks/fit_speed.py gpu --sizes 30000
"$python" benchmarks/fit_speed.py gpu --sizes 50000
"$python" benchmarks/fit_speed.py devices
