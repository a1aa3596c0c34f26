"""Start the server of the studio, with a lock on the folder of its session."""

from __future__ import annotations

import contextlib
import fcntl
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from golem.runtime.files import require_writable
from golem.studio.edits import AnyEdit


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep a folder for this process; raise a ValueError if another studio uses it."""
    require_writable(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ValueError(
                f"Another golem studio uses the folder {str(folder)!r}. Close it, or name another folder with -o."
            ) from None
        yield


def run_studio(
    data: Path | None,
    folder: Path,
    host: str,
    port: int,
    browser: bool,
    announce: Callable[[str], None],
    edits: Sequence[AnyEdit] = (),
) -> None:
    """Serve a session until Ctrl-C.

    Parameters
    ----------
    data : Path, optional
        The table to open, unless the session has it already.
    folder : Path
        The folder of the session.
    host, port : str, int
        Where to listen; port 0 is a free one.
    browser : bool
        Whether to open the page in a browser.
    announce : callable
        Called with the address of the page.
    edits : sequence of edits
        What to do with the table when it is opened.
    """
    try:
        import uvicorn

        from golem.studio.server import allowed_hosts, make_app, new_token
    except ModuleNotFoundError as error:
        if error.name not in ("starlette", "uvicorn"):
            raise
        raise ValueError("golem studio needs Starlette and uvicorn: pip install 'golem-dag[studio]'.") from None
    from golem.studio.session import Session

    if data is not None and not data.is_file():
        raise ValueError(f"There is no file {str(data)!r}.")
    with locked(folder), socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
            listener.listen()  # a browser may follow the link before the server has started
        except OSError as error:
            raise ValueError(f"{host}:{port} cannot be used: {error.strerror}. Choose another --port.") from None
        port, token = listener.getsockname()[1], new_token()
        session = Session(folder, data, edits)
        app = make_app(session, token, allowed_hosts(host, port))
        address = f"http://{host}:{port}/?token={token}"
        announce(address)
        if browser:
            threading.Timer(0.5, webbrowser.open, [address]).start()
        config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=1)
        with contextlib.suppress(KeyboardInterrupt):  # uvicorn raises it again when it has ended
            uvicorn.Server(config).run([listener])
