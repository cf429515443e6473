"""PyTorch's device cuda, by ptera.torch: operations of its own OpInfo samples equal the CPU's;
blocks of networks forward and backward, eager and compiled."""
import copy
import sys
import unittest
import warnings

import torch
from torch.nn import functional
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_map

warnings.filterwarnings("ignore")

#: Random numbers, which are CUDA's.
DRAWN = {
    "nn.functional.alpha_dropout", "nn.functional.dropout", "nn.functional.dropout2d",
    "nn.functional.dropout3d",
    "nn.functional.feature_alpha_dropout", "nn.functional.fractional_max_pool2d",
    "nn.functional.fractional_max_pool3d", "nn.functional.multi_head_attention_forward", "normal",
    "rand_like", "randint", "randint_like",
    "randn", "randn_like", "uniform",
}  # fmt: skip
#: Not the CPU's: memory that nobody wrote; views of larger storage, which copies do not keep; what
#: only the CPU has, or has in another form. (What the CPU has not begins with jiterator.)
LEFT_OUT = DRAWN | {
    "as_strided", "empty", "empty_like", "empty_permuted", "empty_strided", "histogram",
    "histogramdd", "new_empty", "new_empty_strided", "sparse.mm", "tensor_split", "to_sparse",
    "torch.ops.aten._scaled_dot_product_flash_attention_for_cpu",
}  # fmt: skip
SAMPLES = 4


def on_device(value):
    if isinstance(value, (torch.Tensor, torch.device)):
        return value.to("cuda") if isinstance(value, torch.Tensor) else torch.device("cuda")
    return value


def on_cpu(value):
    return value.cpu() if isinstance(value, torch.Tensor) else value


def compare(op, sample):
    torch.manual_seed(3)
    expected = op(sample.input, *sample.args, **sample.kwargs)
    torch.manual_seed(3)
    input, args, kwargs = tree_map(on_device, (sample.input, sample.args, dict(sample.kwargs)))
    if kwargs.get("device") == "cpu":
        kwargs["device"] = "cuda"
    found = op(input, *args, **kwargs)
    torch.testing.assert_close(tree_map(on_cpu, found), expected, equal_nan=True)


class ResidualBlock(torch.nn.Module):
    def __init__(self, channels=8):
        super().__init__()
        self.first = torch.nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.second = torch.nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norms = torch.nn.ModuleList(torch.nn.BatchNorm2d(channels) for _ in range(2))

    def forward(self, x):
        y = functional.relu(self.norms[0](self.first(x)))
        return functional.relu(x + self.norms[1](self.second(y)))


class TransformerBlock(torch.nn.Module):
    def __init__(self, width=64, heads=4):
        super().__init__()
        self.heads = heads
        self.norms = torch.nn.ModuleList(torch.nn.LayerNorm(width) for _ in range(2))
        self.attention = torch.nn.Linear(width, 3 * width)
        self.projection = torch.nn.Linear(width, width)
        self.mlp = torch.nn.Sequential(
            torch.nn.Linear(width, 4 * width), torch.nn.GELU(), torch.nn.Linear(4 * width, width)
        )

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (
            part.view(batch, length, self.heads, -1).transpose(1, 2)
            for part in self.attention(self.norms[0](x)).split(width, 2)
        )
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.projection(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.norms[1](x))


class Start(unittest.TestCase):
    def test_comes_with_torch(self):
        self.assertIn("ptera.torch", sys.modules)


class Operations(unittest.TestCase):
    def test_samples_equal_the_cpus(self):
        compared = set()
        for op in op_db:
            if op.name in LEFT_OUT or op.name.startswith("jiterator"):
                continue
            if torch.float32 not in op.supported_dtypes("cpu"):
                continue
            torch.manual_seed(1)
            samples = list(op.sample_inputs("cpu", torch.float32))[:SAMPLES]
            samples = [s for s in samples if not s.kwargs.get("dropout_p")]
            with self.subTest(op.formatted_name):
                for sample in samples:
                    compare(op, sample)
                compared.add(op.formatted_name)
        print(f"operations: {len(compared)} equal")
        self.assertGreater(len(compared), 600)


class RandomNumbers(unittest.TestCase):
    def test_are_a_gpus(self):
        """The first ones of seed 0, as they can be read wherever PyTorch's are shown."""
        torch.manual_seed(0)
        uniform = torch.tensor([0.3990, 0.5167, 0.0249, 0.9401, 0.9459])
        torch.testing.assert_close(torch.rand(5, device="cuda").cpu(), uniform, rtol=0, atol=5e-5)
        torch.manual_seed(0)
        normal = torch.tensor([-0.9247, -0.4253, -2.6438, 0.1452, -0.1209])
        torch.testing.assert_close(torch.randn(5, device="cuda").cpu(), normal, rtol=0, atol=5e-5)

    def draw(self):
        kinds = (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64)
        yield from (torch.randn(1000, device="cuda", dtype=kind) for kind in kinds)
        yield from (torch.rand(1000, device="cuda", dtype=kind) for kind in kinds[:4])
        yield torch.randint(-5, 5, (1000,), device="cuda")
        yield torch.randint(1 << 40, (1000,), device="cuda")
        yield torch.empty(1000, device="cuda").bernoulli_(0.3)
        yield torch.empty(1000, device="cuda", dtype=torch.int16).random_()
        yield torch.randperm(100, device="cuda")
        yield functional.dropout(torch.ones(1000, device="cuda"))

    def test_states(self):
        """Once more the same from a state on, or a seed; else others."""
        state = torch.cuda.get_rng_state()
        first, other = list(self.draw()), list(self.draw())
        torch.cuda.set_rng_state(state)
        for a, b, c in zip(first, self.draw(), other):
            self.assertTrue(torch.equal(a, b) and not torch.equal(a, c))
        seeded = [torch.Generator("cuda").manual_seed(7) for _ in range(2)]
        a, b = (torch.rand(10, device="cuda", generator=g) for g in seeded)
        self.assertTrue(torch.equal(a, b))

    def test_bounds_and_moments(self):
        half = torch.rand(100000, device="cuda", dtype=torch.float16)
        self.assertTrue(0 <= half.min() and half.max() < 1)
        normal = torch.randn(100000, device="cuda") * 2 + 1
        self.assertAlmostEqual(normal.mean().item(), 1, delta=0.03)
        self.assertAlmostEqual(normal.std().item(), 2, delta=0.03)
        integers = torch.randint(-5, 5, (10000,), device="cuda")
        self.assertEqual((integers.min(), integers.max()), (-5, 4))

    def test_by_memory_whatever_the_shape(self):
        drawn = []
        for shape in ((4, 6), (6, 4)):
            torch.manual_seed(0)
            drawn.append(torch.empty(shape, device="cuda"))
            (drawn[-1] if shape[0] == 4 else drawn[-1].t()).uniform_()
        self.assertTrue(torch.equal(drawn[0].flatten(), drawn[1].flatten()))


class Networks(unittest.TestCase):
    def check(self, network, x, compiled):
        torch.manual_seed(0)
        other = copy.deepcopy(network).cuda()
        expected = network(x)
        expected.square().mean().backward()
        found = (torch.compile(other) if compiled else other)(x.cuda())
        found.square().mean().backward()
        torch.testing.assert_close(found.cpu(), expected)
        for p, q in zip(other.parameters(), network.parameters()):
            torch.testing.assert_close(p.grad.cpu(), q.grad)

    def test_blocks(self):
        for compiled in (False, True):
            with self.subTest(compiled=compiled):
                self.check(ResidualBlock(), torch.randn(2, 8, 16, 16), compiled)
                self.check(TransformerBlock(), torch.randn(2, 16, 64), compiled)

    def test_layer_norm_of_halves(self):
        """Gradients are summed over rows in float32; the CPU's own kernel sums halves."""
        torch.manual_seed(0)
        x, grad = (torch.rand(1000, 64).half().cuda() for _ in range(2))
        bias = torch.rand(64).half().cuda().requires_grad_()
        functional.layer_norm(x, (64,), torch.ones_like(bias), bias).backward(grad)
        torch.testing.assert_close(bias.grad.double(), grad.double().sum(0), rtol=1e-3, atol=0)

    def test_recurrent(self):
        x = torch.randn(2, 5, 8)
        for kind in (torch.nn.LSTM, torch.nn.GRU):
            network = kind(8, 16, 2, batch_first=True)
            other = copy.deepcopy(network).cuda()
            network(x)[0].sum().backward()
            other(x.cuda())[0].sum().backward()
            for p, q in zip(other.parameters(), network.parameters()):
                torch.testing.assert_close(p.grad.cpu(), q.grad)

    def test_streams_events_amp_printing(self):
        a = torch.ones(64, 64, device="cuda")
        stream, event = torch.cuda.Stream(), torch.cuda.Event(enable_timing=True)
        with torch.cuda.stream(stream):
            b = a @ a
            event.record()
        event.synchronize()
        self.assertEqual(b.sum().item(), 64**3)
        with torch.autocast("cuda"):
            self.assertEqual((a @ a).dtype, torch.float16)
        self.assertIn("device='cuda:0'", repr(b))

    def test_cublas_of_triton(self):
        """The handle that its tutorials make products by, on a stream."""
        from triton._C.libtriton import nvidia

        handle = nvidia.cublas.CublasLt(torch.empty(1, dtype=torch.uint8, device="cuda"))
        a = torch.randint(-4, 4, (5, 16), device="cuda").half()
        b = torch.randint(-4, 4, (7, 16), device="cuda").half()
        c, d = (torch.full((5, 7), 9.0, dtype=torch.half, device="cuda") for _ in range(2))
        with torch.cuda.stream(torch.cuda.Stream()):
            handle.matmul(a, b, c)
            handle.gemm(a, b, c, d, 2.0, 1.0)
        torch.cuda.synchronize()
        product = a.cpu().float() @ b.cpu().float().T
        torch.testing.assert_close(c.cpu().float(), product, rtol=0, atol=0)
        torch.testing.assert_close(d.cpu().float(), 3 * product, rtol=0, atol=0)
        with self.assertRaises(RuntimeError):
            handle.matmul(a, b[:, :8], c)

    def test_profiler(self):
        """PyTorch's asks CUPTI for kernels: Triton's have their names and times."""
        from torch.profiler import ProfilerActivity, profile

        double = torch.compile(lambda x: torch.sin(x) * 2)
        x = torch.ones(4096, device="cuda")
        double(x)
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiled:
            double(x)
            torch.cuda.synchronize()
        on_device = torch.autograd.DeviceType.CUDA
        found = [e for e in profiled.key_averages() if e.device_type == on_device]
        found = [e for e in found if e.key.startswith("triton_")]
        self.assertEqual([e.count for e in found], [1])
        self.assertGreater(found[0].device_time_total, 0)

    def test_refuses_by_name(self):
        x = torch.ones(1, 1, 4, 4, device="cuda")
        with self.assertRaisesRegex(NotImplementedError, "aten::cudnn_convolution has no kernel"):
            torch.ops.aten.cudnn_convolution(x, x, [0, 0], [1, 1], [1, 1], 1, False, False, False)


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    failed = len(result.failures) + len(result.errors)
    print(f"client_torch: {result.testsRun - failed} passed, {failed} failed, 0 skipped")
    sys.exit(failed > 0)
