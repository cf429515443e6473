"""Processes: made by fork or anew, what they tell each other."""

import array
import multiprocessing
import os
import pickle
import sys
import unittest

import common
import ptera


def last_of_saxpy(n):
    """What a process computes with an engine of its own."""
    saxpy = ptera.Module(common.SAMPLES / "saxpy" / "saxpy.ptx").saxpy
    x, y = array.array("f", range(n)), array.array("f", [1] * n)
    saxpy[4, 32](n, 2.0, x, y)
    return y[-1]


def in_fork(function):
    """The status of a child that runs it."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            function()
            status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


class Fork(unittest.TestCase):
    def test_child_has_a_default_engine_of_its_own(self):
        before = ptera.default_engine()
        module = ptera.Module(common.SAMPLES / "saxpy" / "saxpy.ptx")
        with self.assertRaises(ptera.InvalidLaunch):  # which is not told of again
            module.saxpy[1, 2000](0, 2.0, None, None)

        def child():
            assert last_of_saxpy(100) == 199
            assert ptera.default_engine() is not before
            try:
                module.saxpy[1, 32](0, 2.0, None, None)
            except ptera.Error as error:
                assert "fork" in str(error), str(error)
            else:
                raise AssertionError("a module of the parent's ran")

        self.assertEqual(in_fork(child), 0)
        self.assertIs(ptera.default_engine(), before)
        self.assertEqual(last_of_saxpy(100), 199)

    def test_pool(self):
        self.assertEqual(last_of_saxpy(10), 19)
        with multiprocessing.get_context("fork").Pool(2) as pool:
            self.assertEqual(pool.map(last_of_saxpy, [10, 20, 30]), [19, 39, 59])


class Pickle(unittest.TestCase):
    def test_failure_of_a_kernel(self):
        saxpy = ptera.Module(common.SAMPLES / "saxpy" / "saxpy.ptx").saxpy
        with self.assertRaises(ptera.IllegalAddress) as caught:
            saxpy[1, 32](32, 2.0, None, None)
        told = pickle.loads(pickle.dumps(caught.exception))
        self.assertIs(type(told), ptera.IllegalAddress)
        self.assertEqual(str(told), str(caught.exception))
        self.assertEqual((told.kernel, told.address, told.cta), ("saxpy", 0, (0, 0, 0)))

    def test_diagnostics(self):
        with self.assertRaises(ptera.InvalidPTX) as caught:
            ptera.Module("no PTX")
        told = pickle.loads(pickle.dumps(caught.exception))
        self.assertEqual(told.diagnostics, caught.exception.diagnostics)
        self.assertEqual(told.name, "PTERA_ERROR_INVALID_PTX")


if __name__ == "__main__":
    unittest.main()
