"""The port of the server: of this machine alone."""

import socket

import pytest

from ndcg_tracker.errors import InputError
from ndcg_tracker.ui.server import has_display, listener


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.1", "example.org", "", "127.0.0.2"])
def test_other_hosts_are_refused(host: str) -> None:
    with pytest.raises(InputError, match="not this machine alone"):
        listener(host, 0)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_a_free_port_is_found(host: str) -> None:
    if host == "::1" and not socket.has_ipv6:
        pytest.skip("this machine has no IPv6")
    with listener(host, 0) as found:
        assert found.getsockname()[0] == ("127.0.0.1" if host == "localhost" else host)
        assert found.getsockname()[1] > 0


def test_a_port_that_is_taken_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"port={port} cannot be used: address already in use"):
            listener("127.0.0.1", port)


def test_a_browser_needs_a_display(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert not has_display()
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    assert has_display()
