"""A process that is called memcached, whose threads start, work and end upon order.

Orders come as lines, each answered with a line when it is done: ``start NAME`` with the number of
the new thread, ``rename NUMBER NAME``, ``switch TIMES`` (all threads sleep so often) and ``end
NUMBER`` with nothing. ``churn`` starts and ends threads from then on.
"""

import ctypes
import queue
import sys
import threading
import time

_PR_SET_NAME = 15
_libc = ctypes.CDLL(None)
_orders: dict[int, "queue.Queue[list[str]]"] = {}
_answers: "queue.Queue[str]" = queue.Queue()


def set_name(name: str) -> None:
    """Set the name of the calling thread, as the kernel shows it."""
    _libc.prctl(_PR_SET_NAME, name.encode(), 0, 0, 0)


def work(name: str) -> None:
    """Do as told until told to end."""
    set_name(name)
    number = threading.get_native_id()
    own = _orders[number] = queue.Queue()
    _answers.put(str(number))
    while (order := own.get())[0] != "end":
        if order[0] == "rename":
            set_name(order[2])
        else:
            for _ in range(int(order[1])):
                time.sleep(0.0001)
        _answers.put("")


def churn() -> None:
    """Start threads and end them again, one after the other."""
    while True:
        thread = threading.Thread(target=set_name, args=("mc-worker",))
        thread.start()
        time.sleep(0.0002)
        thread.join()


def obey(verb: str, rest: list[str]) -> str:
    """Carry out one order, and return the answer."""
    if verb == "start":
        threading.Thread(target=work, args=rest, daemon=True).start()
        return _answers.get()
    if verb == "churn":
        for _ in range(4):
            threading.Thread(target=churn, daemon=True).start()
    elif verb == "end":
        _orders.pop(int(rest[0])).put([verb])
    else:
        asked = _orders.values() if verb == "switch" else [_orders[int(rest[0])]]
        for own in asked:
            own.put([verb, *rest])
        for _ in asked:
            _answers.get()
    return ""


if __name__ == "__main__":
    set_name("memcached")
    for line in sys.stdin:
        order, *arguments = line.split()
        sys.stdout.write(obey(order, arguments) + "\n")
        sys.stdout.flush()
