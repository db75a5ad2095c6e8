"""Several campaigns on one host, and a real reverse proxy with https before them, by the configuration of the docs."""

import re
import shutil
import ssl
import subprocess
import time
from contextlib import ExitStack
from http.client import HTTPSConnection
from pathlib import Path

import pytest

from annotation.campaigns import CAMPAIGN, Client, Server, answered, filled, link, made_campaign, open_store
from textcritic.annotation.export import export
from textcritic.annotation.screens import NO_BROWSER, answer, browser, browser_path, press

pytestmark = pytest.mark.annotation
DOCS = Path(__file__).parents[2] / "docs/annotation.md"
HOSTS = ("one.example.org", "two.example.org")


def campaigns(tmp_path, *options):
    """Two campaigns of one name, each with its own database."""
    folders = [tmp_path / name for name in ("one", "two")]
    for folder in folders:
        folder.mkdir()
        made_campaign(folder, training=CAMPAIGN["training"] | {"texts": 0}, attention=0)
    return folders


def answers_in(folder):
    with open_store(folder) as store:
        return len(export(store).rows)


def test_two_campaigns_on_the_ports_of_one_host(tmp_path):
    """A browser sends the cookies of a host to all its ports: one person takes part in both."""
    with ExitStack() as stack:
        servers = []
        for folder in campaigns(tmp_path):
            servers.append(Server(folder))
            stack.callback(servers[-1].kill)
        cookies = {}
        first, second = (Client(server.port, cookies) for server in servers)
        one = first.to_first_text(link(servers[0].folder))
        two = second.to_first_text(link(servers[1].folder))
        assert len(cookies) == 2
        # The form of one campaign is no form of the other, and both go on.
        assert second.post("/answer", filled(two) | {"token": one.token}).status == 403
        for client, page in ((first, one), (second, two)):
            assert client.get("/").heading == "Text 1 of 4"
            assert answered(client, page).heading == "Text 2 of 4"
        first.post("/withdraw", {"token": first.get("/withdraw").token})
        assert second.get("/").heading == "Text 2 of 4"
        assert [answers_in(server.folder) for server in servers] == [0, 1]


def block_of_docs():
    """The configuration of nginx in the docs."""
    return re.search(r"```\n(server \{ +# nginx\n.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)[1]


def nginx_for(folder, port, servers):
    """The block of the docs for each campaign, with the ports, names and certificates of the test."""
    blocks = ""
    for host, server in zip(HOSTS, servers, strict=True):
        changes = {
            "listen 443 ssl;": f"listen 127.0.0.1:{port} ssl;",
            "study.example.org": host,
            "http://127.0.0.1:8000": f"http://127.0.0.1:{server.port}",
            f"/etc/letsencrypt/live/{host}/fullchain.pem": f"{folder}/cert.pem",
            f"/etc/letsencrypt/live/{host}/privkey.pem": f"{folder}/key.pem",
        }
        block = block_of_docs()
        for old, new in changes.items():
            assert old in block, old
            block = block.replace(old, new)
        blocks += block
    paths = "".join(
        f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    text = f"daemon off; pid {folder}/pid; error_log {folder}/error.log; events {{}} http {{ {paths} {blocks} }}"
    (folder / "nginx.conf").write_text(text)
    return ["nginx", "-e", f"{folder}/error.log", "-p", str(folder), "-c", f"{folder}/nginx.conf"]


@pytest.fixture
def proxied(tmp_path):
    """Two campaigns behind nginx: its port, and the servers."""
    if shutil.which("nginx") is None or shutil.which("openssl") is None:
        pytest.skip("needs nginx and openssl: `apt-get install nginx openssl`")
    place = tmp_path / "nginx"
    place.mkdir()
    names = ",".join(f"DNS:{host}" for host in HOSTS)
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
            *("-days", "2", "-subj", "/CN=tests", "-addext", f"subjectAltName={names}"),
            *("-keyout", str(place / "key.pem"), "-out", str(place / "cert.pem")),
        ],
        check=True,
        capture_output=True,
    )
    port = free_port()
    with ExitStack() as stack:
        servers = []
        for host, folder in zip(HOSTS, campaigns(tmp_path), strict=True):
            servers.append(Server(folder, "--address", f"https://{host}:{port}"))
            stack.callback(servers[-1].kill)
        nginx = subprocess.Popen(nginx_for(place, port, servers))
        stack.callback(lambda: (nginx.terminate(), nginx.wait()))
        wait_for(port, place / "cert.pem")
        yield port, servers, place


def free_port():
    import socket

    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


class SecureClient(Client):
    """As a browser that resolves every name to this machine, and trusts the certificate of the test."""

    def __init__(self, port, host, certificate):
        super().__init__(port)
        self.host, self.context = host, ssl.create_default_context(cafile=certificate)
        self.context.check_hostname = False

    def connection(self):
        return HTTPSConnection("127.0.0.1", self.port, timeout=30, context=self.context)

    def request(self, method, path, body=None, **headers):
        headers = {"Host": f"{self.host}:{self.port}"} | headers
        return super().request(method, path, body, **headers)


def wait_for(port, certificate):
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            return SecureClient(port, HOSTS[0], certificate).get("/style.css")
        except OSError:
            time.sleep(0.05)
    raise AssertionError("nginx does not answer")


@pytest.mark.debian
def test_a_reverse_proxy_with_https(proxied):
    port, servers, place = proxied
    client = SecureClient(port, HOSTS[0], place / "cert.pem")
    origin = f"https://{HOSTS[0]}:{port}"
    entered = client.request("GET", link(servers[0].folder))
    assert "secure" in entered.headers["set-cookie"].lower()
    page = client.get("/")
    # Headers that anybody can make up change nothing, and forms from elsewhere are refused.
    made_up = {"X-Forwarded-Proto": "http", "X-Forwarded-Host": "evil.example", "X-Forwarded-For": "1.2.3.4"}
    assert "evil.example" not in client.request("GET", "/", **made_up).text
    for elsewhere in (f"http://{HOSTS[0]}:{port}", f"https://{HOSTS[1]}:{port}", "https://evil.example", "null"):
        assert client.post("/consent", {"token": page.token}, origin=elsewhere).status == 403
    page = client.post("/consent", {"token": page.token}, origin=origin)
    page = client.post("/begin", {"token": page.token}, origin=origin)
    assert page.heading == "Text 1 of 4"
    assert client.post("/answer", filled(page), origin=origin).heading == "Text 2 of 4"
    # The other host is the other campaign; a link of one is none of the other.
    other = SecureClient(port, HOSTS[1], place / "cert.pem")
    assert other.get(link(servers[0].folder)).status == 403
    # A server that is gone is no page of ours, and no address is in any file.
    servers[0].kill()
    assert client.get("/").status == 502
    servers[0].start()
    assert client.get("/").heading == "Text 2 of 4"
    assert not [path for path in place.rglob("*.log") if "client:" in path.read_text()]
    assert [answers_in(server.folder) for server in servers] == [1, 0]


@pytest.mark.debian
@pytest.mark.skipif(browser_path() is None, reason=NO_BROWSER)
def test_links_forms_and_cookies_of_a_browser_behind_the_proxy(proxied):
    port, servers, _ = proxied
    rule = f"MAP *.example.org 127.0.0.1:{port}"
    with browser(f"--host-resolver-rules={rule}") as chromium:
        page = chromium.new_context(ignore_https_errors=True, java_script_enabled=False).new_page()
        page.goto(f"https://{HOSTS[0]}:{port}{link(servers[0].folder, 'admin')}")
        press(page, "Make links")
        (invitation,) = page.locator(".links li").all_text_contents()
        assert invitation.startswith(f"https://{HOSTS[0]}:{port}/enter/")
        page = chromium.new_context(ignore_https_errors=True, java_script_enabled=False).new_page()
        page.goto(invitation)
        press(page, "I agree")
        press(page, "Begin")
        answer(page)
        press(page, "Save answer")
        page.get_by_role("heading", name="Text 2 of 4").wait_for()
        (cookie,) = page.context.cookies()
        assert (cookie["secure"], cookie["httpOnly"], cookie["sameSite"]) == (True, True, "Lax")
    assert answers_in(servers[0].folder) == 1


def test_a_server_that_does_not_know_of_the_proxy_says_what_is_missing(tmp_path):
    folder, _ = campaigns(tmp_path)
    server = Server(folder)
    try:
        client = Client(server.port)
        page = client.get(link(folder))
        refused = client.post("/consent", {"token": page.token}, origin=f"https://127.0.0.1:{server.port}")
        assert refused.status == 403
        assert "`--address`" in refused.text
    finally:
        server.kill()
