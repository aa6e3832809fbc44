"""The text protocol's login (memcached -Y): user and password on each new connection.

A server counts each wrong password, and may be watched for that. So a login that was refused is not
repeated at once with the same words; a new password file is tried at once.
"""

import os
import time
from pathlib import Path

from exporter.configuration import Auth
from exporter.errors import ReadError, Reason
from exporter.memcached.connection import Connection

_FIRST_PAUSE = 30.0
_LONGEST_PAUSE = 600.0
_LONGEST_ANSWER = 65536
_TEXTS = {
    Reason.AUTH: "the server refuses user or password",
    Reason.PROTOCOL: "the answer to the login is not memcached's protocol",
}


class Login:
    """Logs in to one server, with back-off after a refusal."""

    def __init__(self, auth: Auth) -> None:
        self._auth = auth
        self._refused = b""
        self._pause = 0.0
        self._until = 0.0

    def token(self) -> bytes:
        """Return what is to be sent, or raise ReadError when it must not be, or is not to be had.

        Call it before connecting: during the pause after a refusal no connection is made.
        """
        token = f"{self._auth.username} {self._password()}".encode()
        remaining = self._until - time.monotonic()
        if token == self._refused and remaining > 0:
            raise ReadError(
                Reason.AUTH, f"the login was refused; the next attempt is in {remaining:.0f} s"
            )
        return token

    def perform(self, connection: Connection, token: bytes, deadline: float) -> None:
        """Log in on a new connection, if the server wants it. Raises ReadError when it refuses."""
        if not self._is_wanted(connection, deadline):
            return
        command = f"set auth 0 0 {len(token)}\r\n".encode() + token
        try:
            (reply,) = connection.exchange([command], deadline, _LONGEST_ANSWER)
        except ReadError as error:
            if error.reason is Reason.AUTH:
                self._pause = min(max(self._pause * 2, _FIRST_PAUSE), _LONGEST_PAUSE)
                self._until = time.monotonic() + self._pause
                self._refused = token
            if error.reason in _TEXTS:
                # Not the server's words: some repeat what they were sent.
                raise ReadError(error.reason, _TEXTS[error.reason]) from None
            raise
        if reply.error:
            raise ReadError(Reason.AUTH, "the server answered the login with an error")
        self._refused, self._pause = b"", 0.0

    def _is_wanted(self, connection: Connection, deadline: float) -> bool:
        """Ask first: to a server without logins the words below would be an item to store."""
        try:
            connection.exchange(["version"], deadline, _LONGEST_ANSWER)
        except ReadError as error:
            if error.reason is Reason.AUTH:
                return True
            raise
        return False

    def _password(self) -> str:
        if self._auth.password_env:
            password = os.environ.get(self._auth.password_env, "")
            source = f"environment variable {self._auth.password_env}"
        else:
            source = self._auth.password_file
            try:
                password = Path(source).read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                text = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
                raise ReadError(Reason.AUTH, f"{source}: {str(text).lower()}") from error
        password = password.rstrip("\r\n")
        if not password or "\n" in password or "\r" in password or " " in password:
            raise ReadError(Reason.AUTH, f"{source} holds no password of one word")
        return password
