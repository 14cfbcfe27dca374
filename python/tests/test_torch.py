# SPDX-License-Identifier: Apache-2.0
"""Scopes of modules: with a substitute for torch, and with torch itself if it is installed."""

import importlib.util
import sys
import unittest

import bench_profile as bp
from tests.support import NEEDS_LIBRARY, TestInFolder, scopes

# What torch_scopes() uses of nn.Module, with the same rules.
FAKE_MODULE = """
class Handle:
    def __init__(self, hooks, hook):
        self.hooks, self.hook = hooks, hook
        hooks.append(hook)

    def remove(self):
        self.hooks.remove(self.hook)


class Module:
    def __init__(self, **children):
        self.before, self.after, self.children = [], [], children
        self.__dict__.update(children)

    def named_modules(self, prefix=""):
        yield prefix, self
        for name, child in self.children.items():
            yield from child.named_modules(f"{prefix}.{name}" if prefix else name)

    def register_forward_pre_hook(self, hook):
        return Handle(self.before, hook)

    def register_forward_hook(self, hook, always_call):
        assert always_call
        return Handle(self.after, hook)

    def __call__(self, value):
        try:
            for hook in self.before:
                assert hook(self, (value,)) is None
            result = self.forward(value)
        except Exception:
            for hook in self.after:
                hook(self, (value,), None)
            raise
        for hook in self.after:
            assert hook(self, (value,), result) is None
        return result

    def forward(self, value):
        for child in self.children.values():
            value = child(value)
        return value


class Leaf(Module):
    def forward(self, value):
        if value < 0:
            raise ValueError
        if value == 99:
            raise KeyboardInterrupt
        return value + 1


class Net(Module):
    pass


class List(Module):
    forward = None


class Loop(Module):
    def forward(self, value):
        return self.items.children["1"](value)


items = List(**{"0": Leaf(), "1": Leaf()})
net = Net(stem=Leaf(), body=Module(conv=Leaf(), loop=Loop(items=items)))
"""
NET_SCOPES = ["Net:stem", "Net:body:conv", "Net:body:loop:items.1", "Net:body:loop", "Net:body",
              "Net"]


@NEEDS_LIBRARY
class FakeTorch(TestInFolder):
    def profile(self, code):
        return scopes(super().profile(FAKE_MODULE + code))

    def test_modules_nest_as_their_calls(self):
        found = self.profile("""
with bp.torch_scopes(net):
    assert net(1) == 4
net(1)  # without hooks
assert not net.before and not net.stem.after
kept = bp.torch_scopes(net, name="model")
net.body(1)
net.stem(1)
net(1)
kept.remove()
net(1)
import sys
assert "torch" not in sys.modules
""")
        part = ["body:conv", "body:loop:items.1", "body:loop", "body", "stem"]
        named = [path.replace("Net", "model", 1) for path in NET_SCOPES]
        self.assertEqual(found, NET_SCOPES + part + named)

    def test_an_exception_in_forward_ends_its_scopes(self):
        found = self.profile("""
with bp.torch_scopes(net):
    try:
        net(-5)
    except ValueError:
        pass
    with bp.scope("after"):
        pass
    try:
        net.body.conv(99)  # torch calls no hooks then
    except KeyboardInterrupt:
        pass
    net(1)
with bp.scope("end"):
    pass
""")
        self.assertEqual(found, ["Net:stem", "Net", "after", "body.conv", *NET_SCOPES, "end"])

    def test_a_hook_that_raises_before_ours_ends_nothing_else(self):
        found = self.profile("""
def refuse(module, arguments):
    raise ValueError
net.body.conv.register_forward_pre_hook(refuse)
with bp.torch_scopes(net):
    with bp.scope("outside"):
        try:
            net.body.conv(1)
        except ValueError:
            pass
""")
        self.assertEqual(found, ["outside"])


@NEEDS_LIBRARY
@unittest.skipUnless(importlib.util.find_spec("torch"), "torch is not installed")
class RealTorch(TestInFolder):
    def test_forward_calls_exceptions_copies_and_compiled_code(self):
        found = self.profile("""
            import copy
            import torch
            from torch import nn

            class Fails(nn.Module):
                def forward(self, value):
                    raise ValueError

            net = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.ReLU(), nn.Linear(2, 1)))
            value = torch.zeros(1, 2)
            with bp.torch_scopes(net, name="net"):
                net(value).sum().backward()
                copied = copy.deepcopy(net)
                compiled = torch.compile(net, backend="eager", fullgraph=True)
                compiled(value)
            bad = nn.Sequential(nn.ReLU(), Fails())
            with bp.torch_scopes(bad, name="bad"):
                try:
                    bad(value)
                except ValueError:
                    pass
                with bp.scope("after"):
                    copied(value)
        """)
        net = ["net:0", "net:1:0", "net:1:1", "net:1", "net"]
        copied = [f"after:{path}" for path in net]
        self.assertEqual(scopes(found), [*net, "bad:0", "bad:1", "bad", *copied, "after"])


class Import(unittest.TestCase):
    def test_the_package_does_not_import_torch(self):
        self.assertIsNotNone(bp.torch_scopes)
        self.assertNotIn("torch", sys.modules)


if __name__ == "__main__":
    unittest.main()
