"""Reads the address of a server so strictly that whoever connects to it cannot read another host out of it."""

import ipaddress
import re

# No user name, query, fragment, backslash, percent sign in the host or letter beyond ASCII: parsers differ in these.
_ADDRESS = re.compile(
    r"(https?)://([a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?|\[[0-9a-f:.]+\])(?::([0-9]{1,5}))?(?:/[\w.~%/+@:,;=-]*)?",
    re.ASCII | re.IGNORECASE,
)
_USUAL_PORTS = {"http": 80, "https": 443}


def address(base_url: str) -> str:
    """`scheme://host[:port]` of a base_url, in lower case; "" where it is not the address of a server."""
    found = _ADDRESS.fullmatch(base_url)
    if found is None:
        return ""
    scheme, host, port = found[1].lower(), found[2].lower(), int(found[3] or 0)
    if port > 65535 or (found[3] and not port):
        return ""
    if host.startswith("["):
        try:
            host = f"[{ipaddress.IPv6Address(host[1:-1])}]"
        except ValueError:
            return ""
    return f"{scheme}://{host}" + (f":{port}" if port not in (0, _USUAL_PORTS[scheme]) else "")


def is_local(base_url: str) -> bool:
    """Whether the server is surely on this machine: "localhost" and loopback addresses, in their usual spelling."""
    host = re.sub(r"^https?://|:[0-9]+$", "", address(base_url)).strip("[]")
    try:
        # Anything else that leads to this machine, 2130706433 or a name of the hosts file, counts as a stranger.
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
