"""How a connection to a server begins: dialled, with TLS and a login if its module wants them."""

from exporter.addresses import Address
from exporter.configuration import Module
from exporter.errors import ReadError, Reason
from exporter.memcached.connection import Connection, Permit, connect, first_words
from exporter.memcached.login import Login
from exporter.memcached.replies import raise_for_connection
from exporter.tls import ContextKeeper


class Door:
    """Opens connections to one server; remembers its TLS context and refused logins."""

    def __init__(self, address: Address, module: Module, permit: Permit | None = None) -> None:
        self._address = address
        self._permit = permit
        self._keeper = ContextKeeper(module.tls) if module.tls else None
        self._login = Login(module.auth) if module.auth else None

    def open(self, deadline: float) -> Connection:
        """Return a connection that is ready for commands, by ``deadline`` (``time.monotonic``).

        Raises ReadError, and ForbiddenTargetError when the address may not be dialled.
        """
        try:
            return self._open(deadline)
        except ReadError as error:
            self.explain(error, deadline)
            raise

    def explain(self, error: ReadError, deadline: float) -> None:
        """Raise a ReadError that says better why a new connection broke, if that can be known.

        A full server says so in plain text and closes, also where TLS was to begin. One that wants
        a client certificate closes without a word.
        """
        if error.reason in {Reason.CLOSED, Reason.TLS}:
            raise_for_connection(first_words(self._address, deadline, self._permit))
        if error.reason is Reason.CLOSED and self._keeper:
            raise ReadError(
                Reason.TLS,
                "the server closed the connection as TLS began: does it want a client certificate?",
            ) from error

    def _open(self, deadline: float) -> Connection:
        if self._login is None:
            return connect(self._address, deadline, self._permit, self._keeper)
        token = self._login.token()
        connection = connect(self._address, deadline, self._permit, self._keeper)
        try:
            self._login.perform(connection, token, deadline)
        except BaseException:
            connection.close()
            raise
        return connection
