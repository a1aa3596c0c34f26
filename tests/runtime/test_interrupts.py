"""Ctrl-C and SIGTERM: held back while something must not be cut short, and raised afterwards."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from golem.runtime.interrupts import holding_interrupts, terminating_softly


def test_an_interrupt_waits_until_the_block_has_ended():
    done = []
    with pytest.raises(KeyboardInterrupt), holding_interrupts():
        done.append(os.kill(os.getpid(), signal.SIGINT))
    assert done  # the block went on after the signal
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


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


def test_a_termination_is_an_interrupt_and_can_be_held():
    with pytest.raises(KeyboardInterrupt), terminating_softly():
        os.kill(os.getpid(), signal.SIGTERM)
    done = []
    with pytest.raises(KeyboardInterrupt), terminating_softly(), holding_interrupts():
        done.append(os.kill(os.getpid(), signal.SIGTERM))
    assert done
