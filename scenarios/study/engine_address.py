"""Whether anything listens where a cluster is said to be, before its own client tries for long."""

import socket
from urllib.parse import urlsplit

PATIENCE = 10.0  # seconds for a connection to be accepted


def knock(address: str) -> None:
    """Nothing, if a connection to HOST:PORT or SCHEME://HOST:PORT is accepted, or has no port.

    Raises:
        OSError: nobody answers there.
        ValueError: it is no address.
    """
    found = urlsplit(address if "://" in address else f"//{address}")
    if found.hostname and found.port:
        socket.create_connection((found.hostname, found.port), PATIENCE).close()
