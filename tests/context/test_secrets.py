"""What is a secret, by name and by shape. All credentials here are made up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_server.context.secret_names import is_secret_name
from lsp_server.context.secret_shapes import is_secret_text, secret_lines

SECRET_NAMES = """
.env .env.local .env.production prod.env .envrc a/.ENV server.pem tls.key id_rsa id_ed25519 .ssh/config kubeconfig
.kube/config .netrc .npmrc .pypirc credentials credentials.json aws_credentials.ini .aws/credentials secrets.yaml
secrets.yml secrets secret.toml app-secrets.json secrets.prod.yaml terraform.tfstate terraform.tfstate.backup
prod.tfvars prod.auto.tfvars.json .htpasswd service-account.json my-service_account-key.json store.jks app.keystore
.docker/config.json passwords.txt vault.kdbx .git-credentials key.p12 C/.aws/config client_secrets.json
"""

OTHER_NAMES = """
.env.example .env.sample app.py secrets.py secret_manager.go credentials.ts keys.py monkey.py keyboard.json config.json
tokenizer.json id_rsa.pub environment.yml env.py docker/config.json aws/credentials.py secretary.txt password_reset.html
README.md main.tf secrets_test.rs package.json tsconfig.json
"""


@pytest.mark.parametrize("name", SECRET_NAMES.split())
def test_secret_names(name: str) -> None:
    assert is_secret_name(f"/home/me/project/{name}")


@pytest.mark.parametrize("name", OTHER_NAMES.split())
def test_other_names(name: str) -> None:
    assert not is_secret_name(f"/home/me/project/{name}")


SECRET_LINES = [
    "key = 'AKIA" + "IOSFODNN7ABCDEFG'",
    "t = 'ghp_" + "a1B2" * 9 + "'",
    "github_pat_" + "A1b2C3d4" * 6,
    "slack: xoxb-" + "1234567890-abcdefghij",
    "AIza" + "SyA1234567890abcdefghijklmnopqrstuv",
    "stripe.api_key = 'sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc'",
    "OPENAI = 'sk-" + "proj-abcdefghijklmnop1rstuvwx'",
    "Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dBjftJeZ4CVP-mB92K27",
    "DATABASE_URL=postgres://admin:s3cr3tpw@db.internal:5432/app",
    'password = "hunter2hunter"',
    '"api_key": "9f8a7b6c5d4e3f2a"',
    "PASSWORD=correcthorse",
    "export DB_PASSWORD=abcdefg",
    "client_secret: q8Zx93kLmN02pQrStUvW",
    'headers["X-Api-Key"] = "f00dfeedcafe1234"',
]

OTHER_LINES = [
    "password = os.environ['PASSWORD']",
    'password = "changeme"',
    'token = "your-token-here"',
    'api_key = "${API_KEY}"',
    "MAX_TOKENS=4096",
    "max_tokens: int = 64",
    "token = self.tokens2.next()",
    "token_url = 'https://example.org/oauth2/token'",
    "def password_hash(password: str) -> str:",
    'SECRET_NAME = "access_token"',
    "for token in tokenize(text1):",
    "hash = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'",
    "import secrets",
    "sk-learn is a library",
    "http://localhost:8080/a@b",
]


@pytest.mark.parametrize("line", SECRET_LINES)
def test_secret_lines(line: str) -> None:
    assert secret_lines(f"import os\n{line}\nprint(1)\n") == {1}


@pytest.mark.parametrize("line", OTHER_LINES)
def test_other_lines(line: str) -> None:
    assert secret_lines(f"import os\n{line}\nprint(1)\n") == set()


def test_a_private_key_is_secret_to_its_end() -> None:
    block = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nabc\n-----END RSA PRIVATE KEY-----\n"
    assert secret_lines(f"a = 1\n{block}b = 2\n") == {1, 2, 3, 4}
    assert is_secret_text(block)
    assert is_secret_text(block[:40])
    assert not is_secret_text("x = 1\ny = 2\n" * 20 + block)


def test_whole_files() -> None:
    assert is_secret_text("# settings\nHOST=localhost\nPORT=80\nMODE=dev\nAPI_KEY=abcdefgh\n")
    assert is_secret_text('{\n "type": "service_account",\n "project_id": "x",\n "a": 1,\n "b": 2\n}\n')
    assert not is_secret_text("HOST=localhost\nPORT=80\n")
    code = "import boto3\n\n\ndef connect():\n    return boto3.client('s3')\n\n\n"
    assert not is_secret_text(code + SECRET_LINES[0])
    assert not is_secret_text("")


@given(st.text(max_size=400))
def test_any_text_is_read(text: str) -> None:
    lines = text.count("\n") + 1
    assert all(0 <= line < lines for line in secret_lines(text))
    is_secret_text(text)


@pytest.mark.parametrize(
    "piece", ["eyJ", "sk-", "ghp_", "a:b", "://a", "secret", "token=", "-----BEGIN ", "x", '"', "SG."]
)
def test_no_text_takes_long(piece: str) -> None:
    secret_lines(piece * (100_000 // len(piece)))
