"""Ctrl-C and SIGTERM: held back while something must not be cut short, and raised afterwards."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import pytest

from golem.runtime.interrupts import holding_interrupts


def test_an_interrupt_waits_until_the_block_has_ended():
    done, before = [], signal.getsignal(signal.SIGINT)  # ignored in background jobs
    with pytest.raises(KeyboardInterrupt), holding_interrupts():
        done.append(os.kill(os.getpid(), signal.SIGINT))
    assert done  # the block went on after the signal
    assert signal.getsignal(signal.SIGINT) is before


def test_without_an_interrupt_nothing_is_raised():
    with holding_interrupts():
        pass


def test_other_threads_hold_nothing_and_may_enter():
    entered = []

    def work():
        with holding_interrupts():
            entered.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert entered


def test_a_lost_interrupt_is_raised_again_and_a_termination_can_be_held():
    program = """
import os, signal, time
from golem.runtime import interrupts
interrupts.handle_signals()
interrupts.begin_work()
class Lost:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.01)
try:
    Lost()
    time.sleep(60)
except KeyboardInterrupt:
    print("raised again", interrupts.received())
interrupts._ending.raised = None
try:
    with interrupts.holding_interrupts():
        os.kill(os.getpid(), signal.SIGTERM)
        print("held")
except KeyboardInterrupt:
    print("raised")
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert ended.stdout.splitlines() == ["raised again 15", "held", "raised"]
    assert not ended.stderr
