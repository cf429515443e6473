set -x
G=tests/golden; W=/tmp/w; mkdir -p $W $OUT
CUDA=/usr/local/cuda
gcc -O2 -I$CUDA/include $G/device_run.c -L$CUDA/lib64/stubs -lcuda -o $W/device_run || exit 1
gcc -O2 -I$CUDA/include $G/sync_run.c -L$CUDA/lib64/stubs -lcuda -o $W/sync_run || exit 1
nvidia-smi --query-gpu=name,driver_version --format=csv
python3 $G/atomic_gen.py $W/atomic; $W/device_run $W/atomic; tar -C $W/atomic -cJf $OUT/atomic.txz out.bin ran.tsv index.tsv
python3 $G/sync_gen.py $W/sync; n=0; while read -r l; do n=$((n+1)); case $l in active_*) timeout 20 $W/sync_run $W/sync $n >> $OUT/sync.tsv;; esac; done < $W/sync/jobs.tsv
cat $OUT/sync.tsv
python3 $G/matrix_gen.py $W/legacy --rows 32768 --seed 5 --match 'm8n8k4.*f16'; $W/device_run $W/legacy
sha256sum $W/legacy/in_*.bin | cut -c1-16 | tr '\n' ' '
tar -C $W/legacy -c out.bin ran.tsv index.tsv | xz -T0 -3 > $OUT/legacy.txz
cat > $W/q.cu <<'C'
C
ptxas -arch=sm_90a $W/legacy/m_matrix_00.ptx -o $W/l.cubin && cuobjdump -sass $W/l.cubin | grep -E 'Function|HMMA|FFMA|HFMA|HADD|FADD|F2F|SHFL|PRMT|MMA' > $OUT/legacy.sass
ptxas -arch=sm_90 $W/atomic/m_atomic.ptx -o $W/a.cubin && cuobjdump -sass $W/a.cubin | grep -E 'Function|ATOM|RED|DADD|HADD|FADD|CAS' > $OUT/atomic.sass
ls -la $OUT
