#!/bin/sh
# Other people's software by `python -m ptera`: run.sh CLIENT PTERA FOLDER. Installs the package
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

common="numpy==2.4.6 cffi==2.1.1" # the latter is ptera's own
argument=
case $client in
tinygrad) packages="tinygrad==0.14.0" ;;
tinygrad_nvrtc) # NVRTC where an installed toolkit has it
    packages="tinygrad==0.14.0 nvidia-cuda-nvrtc==13.5.37 nvidia-cuda-runtime==13.5.37"
    argument=CUDA
    ;;
numba)
    packages="numba-cuda[cu13]==0.30.4 numba==0.68.1 cuda-core==1.2.2 cuda-bindings==13.5.0 \
nvidia-cuda-nvrtc==13.5.37 nvidia-nvjitlink==13.5.37 nvidia-nvvm==13.5.37"
    ;;
cupy)
    packages="cupy-cuda13x==14.2.0 nvidia-cuda-nvrtc==13.5.37 nvidia-cuda-runtime==13.5.37 \
nvidia-cuda-cccl==13.3.5.0.6"
    export CUPY_CACHE_DIR="$folder/cupy/cache"
    ;;
jax) packages="jax[cuda13]==0.10.2 jaxlib==0.10.2 jax-cuda13-plugin==0.10.2" ;;
warp)
    packages="warp-lang==1.19.0"
    export WARP_CACHE_PATH="$folder/warp/cache"
    ;;
core)
    packages="cuda-core==1.2.2 cuda-bindings==13.5.0 nvidia-cuda-nvrtc==13.5.37 \
nvidia-cuda-runtime==13.5.37 nvidia-nvjitlink==13.5.37 nvidia-nvvm==13.5.37"
    ;;
pycuda) packages="pycuda==2026.1" ;; # which is compiled here, with CUDA's headers
quadrants) packages="quadrants==1.3.3" ;;
# It runs on NumPy's arrays: PyTorch is not needed.
triton)
    packages="triton==3.9.0"
    export TRITON_CACHE_DIR="$folder/triton/cache"
    ;;
torch)
    packages="torch==2.15.0 triton==3.9.0 expecttest==0.3.0 setuptools"
    export TRITON_CACHE_DIR="$folder/torch/cache" TORCHINDUCTOR_CACHE_DIR="$folder/torch/inductor"
    ;;
*) exit 2 ;;
esac

python3 -c 'import venv, ensurepip' 2>/dev/null || skip "no python3 with venv"
if [ ! -e "$folder/$client/installed" ]; then
    # shellcheck disable=SC2086
    python3 -m venv "$folder/$client" && "$folder/$client/bin/pip" install -q $packages $common &&
        touch "$folder/$client/installed" || skip "$packages cannot be installed"
fi
python="$folder/$client/bin/python"
PYTHONPATH=$(dirname "$ptera")/python
export PYTHONPATH
[ "$client" != tinygrad_nvrtc ] ||
    for toolkit in "$folder/$client"/lib/python3*/site-packages/nvidia/cu13; do
        export LD_LIBRARY_PATH="$toolkit/lib" CUDA_PATH="$toolkit"
    done
program="$here/on_${client%_nvrtc}.py"
case $client in
triton) exec "$python" "$program" ;; # finds Ptera by itself
*) exec "$python" -m ptera "$program" $argument ;;
esac
