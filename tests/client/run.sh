#!/bin/sh
# Other people's software on Ptera's libcuda.so.1: run.sh CLIENT PTERA FOLDER. Installs the package
# from PyPI into a virtual environment in FOLDER first; where that cannot be had the test is
# skipped.
set -u
client=$1
ptera=$2
folder=$3
here=$(dirname "$(readlink -f "$0")")

skip() {
    echo "skipped client_$client: $1"
    echo "client_$client: 0 passed, 0 failed, 1 skipped"
    exit 0
}

case $client in
tinygrad) packages="tinygrad==0.14.0" ;;
# the latter has the compiler that it uses
numba) packages="numba==0.61.2 nvidia-cuda-nvcc-cu12==12.4.131" ;;
warp)
    packages="warp-lang==1.19.0"
    export WARP_CACHE_PATH="$folder/warp/cache"
    ;;
# It runs on NumPy's arrays: PyTorch is not needed.
triton)
    packages="triton==3.9.0 numpy==2.4.6 cffi==2.1.1"
    export TRITON_CACHE_DIR="$folder/triton/cache"
    ;;
torch)
    packages="torch==2.15.0 triton==3.9.0 numpy==2.4.6 cffi==2.1.1 expecttest==0.3.0 setuptools"
    export TRITON_CACHE_DIR="$folder/torch/cache" TORCHINDUCTOR_CACHE_DIR="$folder/torch/inductor"
    ;;
cupy)
    packages="cupy-cuda12x==14.2.0 nvidia-cuda-nvrtc-cu12==12.9.86 \
nvidia-cuda-runtime-cu12==12.9.79"
    export PTERA_COMPUTE_CAPABILITY=12.0 CUPY_CACHE_DIR="$folder/cupy/cache"
    ;;
*) exit 2 ;;
esac

python3 -c 'import venv, ensurepip' 2>/dev/null || skip "no python3 with venv"
if [ ! -e "$folder/$client/installed" ]; then
    # shellcheck disable=SC2086
    python3 -m venv "$folder/$client" && "$folder/$client/bin/pip" install -q $packages &&
        touch "$folder/$client/installed" || skip "$packages cannot be installed"
fi
for compiler in "$folder/$client"/lib/python3*/site-packages/nvidia/cuda_nvcc; do
    export CUDA_HOME="$compiler"
done
python="$folder/$client/bin/python"
case $client in # of the Python package
triton) PYTHONPATH=$(dirname "$ptera")/python exec "$python" "$here/on_$client.py" ;;
torch) PYTHONPATH=$(dirname "$ptera")/python exec "$python" -m ptera "$here/on_$client.py" ;;
*) exec "$ptera" exec "$python" "$here/on_$client.py" ;;
esac
