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

#: Not the CPU's: memory that nobody wrote; views of larger storage, which copies do not keep; what
#: only the CPU has, or has in another form. (What the CPU has not begins with jiterator.)
LEFT_OUT = {
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
            with self.subTest(op.formatted_name):
                for sample in samples:
                    compare(op, sample)
                compared.add(op.formatted_name)
        print(f"operations: {len(compared)} equal")
        self.assertGreater(len(compared), 600)


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

    def test_refuses_by_name(self):
        x = torch.ones(1, 1, 4, 4, device="cuda")
        with self.assertRaisesRegex(NotImplementedError, "aten::cudnn_convolution has no kernel"):
            torch.ops.aten.cudnn_convolution(x, x, [0, 0], [1, 1], [1, 1], 1, False, False, False)


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    failed = len(result.failures) + len(result.errors)
    print(f"client_torch: {result.testsRun - failed} passed, {failed} failed, 0 skipped")
    sys.exit(failed > 0)
