"""The line in the log for slow work."""

from __future__ import annotations

import logging
import time

from golem.runtime.progress import logged_if_slow


def test_only_slow_work_is_logged(caplog):
    with caplog.at_level(logging.WARNING, logger="golem"):
        with logged_if_slow("fast", seconds=60):
            pass
        assert not caplog.records
        with logged_if_slow("slow", seconds=0.01):
            deadline = time.monotonic() + 30
            while not caplog.records and time.monotonic() < deadline:
                time.sleep(0.01)
    assert caplog.messages == ["slow"]
