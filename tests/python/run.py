"""Runs the tests of the Python package: run.py FOLDER-OF-THE-PACKAGE SAMPLES.

Ends with the line of counts that all test programs end with.
"""

import pathlib
import sys
import unittest

package, samples = sys.argv[1:]
sys.path[:0] = [package, str(pathlib.Path(__file__).parent)]


def main() -> int:
    import common

    common.SAMPLES = pathlib.Path(samples)
    suite = unittest.defaultTestLoader.discover(str(pathlib.Path(__file__).parent))
    result = unittest.TextTestRunner(verbosity=1).run(suite)
    failed = len(result.failures) + len(result.errors)
    for test, why in result.skipped:
        print(f"skipped python: {test}: {why}")
    passed = result.testsRun - failed - len(result.skipped)
    print(f"python: {passed} passed, {failed} failed, {len(result.skipped)} skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
