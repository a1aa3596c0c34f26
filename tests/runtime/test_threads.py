"""Thread counts of BLAS."""

from golem.runtime.threads import blas_threads_for


def test_overlapping_solves_leave_the_threads_as_they_were():
    import scipy.linalg  # noqa: F401  # loads a BLAS of its own, which must not appear in between
    import threadpoolctl

    def threads():
        return [pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"]

    before = threads()
    first, second = blas_threads_for(10), blas_threads_for(10)
    first.__enter__()
    second.__enter__()
    assert set(threads()) == {1}
    first.__exit__(None, None, None)
    assert set(threads()) == {1}
    second.__exit__(None, None, None)
    assert threads() == before
