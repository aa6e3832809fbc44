"""Mistakes in the web configuration file, and its example."""

import subprocess
import sys
from pathlib import Path

import bcrypt
import pytest

from exporter.errors import ConfigurationError
from exporter.web.access import check

EXAMPLE = Path(__file__).parent.parent.parent / "config" / "web-config.yml"


HASH = "$2b$04$abcdefghijklmnopqrstuuJ3YwTqvZ6pPr1l7kzvE1rfBq4U2vXyS"


BAD = [
    ("[]", ": expected `object`, got `array`: write a map"),
    ("basic_auth_user: {}", ':1: basic_auth_user: unknown key "basic_auth_user", did you mean'),
    ("rate_limit: {burst: 1}", ":1: rate_limit: not supported: "),
    ("tls_server_config: {}", ':1: tls_server_config: key "cert_file" is missing'),
    ("tls_server_config: {cert_file: c}", ':1: tls_server_config: key "key_file" is missing'),
    ("tls_server_config: {cert_file: ''}", ":1: tls_server_config.cert_file: "),
    ("tls_server_config: {cert: x, key: marker}", ".cert: not supported: certificates and keys"),
    ("tls_server_config: {key: marker}", ".key: not supported: .* use key_file"),
    ("tls_server_config: {client_ca: x}", ".client_ca: not supported: .* use client_ca_file"),
    ("tls_server_config: {client_allowed_sans: [x]}", ".client_allowed_sans: not supported: "),
    ("tls_server_config: {curve_preferences: [X25519]}", ".curve_preferences: not supported: "),
    ("TLS min_version: TLS10", ".min_version: TLS10: .* use TLS12 or TLS13"),
    ("TLS min_version: TLS11", ".min_version: TLS11: .* use TLS12 or TLS13"),
    ("TLS max_version: TLS11", ".max_version: TLS11: .* use TLS12 or TLS13"),
    ("TLS min_version: SSL30", ".min_version: .* write one of TLS12, TLS13"),
    ("TLS min_version: TLS13, max_version: TLS12", ".max_version: lower than min_version"),
    ("TLS client_auth_type: RequestClientCert", "RequestClientCert: .* VerifyClientCertIfGiven"),
    ("TLS client_auth_type: RequireAnyClientCert", ": .* use RequireAndVerifyClientCert"),
    ("TLS client_auth_type: Maybe", ".client_auth_type: .* write one of NoClientCert, "),
    ("TLS client_auth_type: RequireAndVerifyClientCert", "needs client_ca_file"),
    ("TLS client_ca_file: ca.pem", ".client_ca_file: .* set client_auth_type"),
    ("TLS cipher_suites: [TLS_RSA_WITH_RC4_128_SHA]", r".cipher_suites\[0\]: .* write one of"),
    ("TLS cipher_suites: [TLS_AES_128_GCM_SHA256], max_version: TLS12", ".cipher_suites: none is"),
    ("TLS http2: true", 'unknown key "http2"'),
    ("TLS prefer_server_cipher_suites: 1", ".prefer_server_cipher_suites: .* true or false"),
    ("TLS client_auth_type: NoClientCert", ".cert_file: .*c.pem: no such file or directory"),
    ("http_server_config: {http2: maybe}", ":1: http_server_config.http2: .* true or false"),
    ("http_server_config: {headers: {X-Frame-Options: all}}", "write one of , deny, sameorigin"),
    ("http_server_config: {headers: {X-Other: a}}", '.X-Other: unknown key "X-Other", known keys'),
    ("http_server_config: {headers: {X-XSS-Protection: 0}}", ".X-XSS-Protection: .* in quotes"),
    (
        'http_server_config: {headers: {Content-Security-Policy: "a\\r\\nSet-Cookie: b"}}',
        ".Content-Security-Policy: .*: write printable ASCII text",
    ),
    ("basic_auth_users: [alice]", ":1: basic_auth_users: .* write a map"),
    ("basic_auth_users:\n  alice: marker", ":2: basic_auth_users.alice: .* no bcrypt hash: make"),
    ("basic_auth_users: {alice: }", ":1: basic_auth_users.alice: expected `str`, got `null`"),
    ("basic_auth_users: {alice: 1234567}", ":1: basic_auth_users.alice: expected `str`, got"),
    (f"basic_auth_users: {{'a:b': {HASH}}}", ":1: basic_auth_users.a:b: not a user name"),
    (f"basic_auth_users: {{{HASH}: alice}}", ":1: basic_auth_users: the value is no bcrypt hash"),
    (f"basic_auth_users: {{{HASH}: 5}}", r":1: basic_auth_users.\(not shown\): expected `str`"),
    (f"basic_auth_users: {{a: '{HASH}x'}}", ":1: basic_auth_users.a: the value is no bcrypt hash"),
    (f"basic_auth_users: {{a: {HASH.replace('04', '17')}}}", "bcrypt's cost is 17, and 4 to 15"),
    (f"basic_auth_users: {{a: {HASH.replace('04', '03')}}}", "bcrypt's cost is 3, and 4 to 15"),
    ("basic_auth_users: {a: *marker}", ":1:23: not valid YAML: "),
    ("basic_auth_users: {a: !marker x}", ":1:23: not valid YAML: "),
    ('basic_auth_users: {a: "\\marker"}', ":1:25: not valid YAML: "),
    ("basic_auth_users:\n  marker: 1\n  marker: 2", ":3:3: not valid YAML: key .* stands twice"),
    ("\0", ": not valid YAML: "),
    ('tls_server_config: {cert_file: "a\\0b", key_file: k.pem}', ": tls_server_config"),
]


@pytest.mark.parametrize(("text", "message"), BAD)
def test_mistakes(tmp_path: Path, text: str, message: str) -> None:
    """Each mistake is one line with file, key and remedy, and without what may be secret."""
    path = tmp_path / "web.yml"
    if text.startswith("TLS "):
        text = f"tls_server_config: {{cert_file: c.pem, key_file: k.pem, {text[4:]}}}"
    path.write_text(text)
    with pytest.raises(ConfigurationError, match=message) as caught:
        check(path)
    found = str(caught.value)
    assert found.startswith(f"{path}:")
    assert found.isprintable()
    assert "marker" not in found
    assert "1234567" not in found
    assert HASH[:10] not in found


@pytest.mark.parametrize("command", ["start", "check"])
def test_a_mistake_ends_the_start_and_the_check(tmp_path: Path, command: str) -> None:
    """Status 2 and one line, also for a file that is not there."""
    main = tmp_path / "exporter.yml"
    main.write_text("servers: []\nweb: {config_file: web.yml, listen: ['127.0.0.1:0']}\n")
    arguments = [f"--config.file={main}"] if command == "start" else ["config", "check", str(main)]
    web = tmp_path / "web.yml"
    for text, expected in [
        (None, f"{web}: no such file or directory"),
        ("rate_limit: {burst: 1}", f"{web}:1: rate_limit: not supported"),
    ]:
        if text:
            web.write_text(text)
        result = subprocess.run(
            [sys.executable, "-m", "exporter", *arguments],
            capture_output=True,
            text=True,
            check=False,
            timeout=20,
        )
        assert result.returncode == 2
        assert result.stdout == ""
        (line,) = result.stderr.splitlines()
        assert line.startswith(f"memcached-exporter: {expected}")
    if command == "check":
        web.write_text("basic_auth_users: {}")
        subprocess.run([sys.executable, "-m", "exporter", *arguments], check=True, timeout=20)


def test_the_example(tmp_path: Path) -> None:
    """The example file is good, and its hash is that of the password it names."""
    path = tmp_path / "web-config.yml"
    text = EXAMPLE.read_text()
    path.write_text(text)
    with pytest.raises(ConfigurationError, match=r"cert_file: .*server\.crt: no such file"):
        check(path)
    (line,) = (line for line in text.splitlines() if line.startswith("  prometheus: "))
    assert bcrypt.checkpw(b"example", line.split()[1].encode())
    assert "example" in line.partition("#")[2]
