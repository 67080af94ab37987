"""I: files with credentials are neither completed nor shown to the engine, whatever they are called."""

from __future__ import annotations

from typing import Final

from tests.conformance.scenario import Scenario, scenario
from tests.conformance.steps import Ask, Close, Fills, Open, Prompt, Reasons, Type, Write

_TOKEN: Final = "q7Xz" + "9LmP4vRt2WkY8sBn3"  # of no use; joined here, so that no scanner takes it for one
_GITHUB: Final = "ghp_" + "a8Kd72Lq0ZxYw5Tn" + "R3mPbV9cEuJh1sGfQo4i"
_KEY: Final = "-----BEGIN " + f"PRIVATE KEY-----⏎MIIEv{_TOKEN}AIBADANBgkqhkiG9w0BAQEF⏎-----END PRIVATE KEY-----⏎"
_APP: Final = "import os⏎⏎KEY = os.environ['KEY']⏎x = │⏎"
_SECRETS: Final = {
    ".env": f"KEY={_TOKEN}⏎",
    ".env.local": f"KEY={_TOKEN}⏎",
    ".env.production": f"export KEY='{_TOKEN}'⏎",
    "server.pem": _KEY,
    "id_rsa": _KEY,
    "deploy.key": _KEY,
    "kubeconfig": f"users:⏎- user:⏎    token: {_TOKEN}⏎",
    ".kube/config": f"users:⏎- user:⏎    token: {_TOKEN}⏎",
    ".netrc": f"machine a.example login b password {_TOKEN}⏎",
    ".npmrc": f"//registry.example/:_authToken={_TOKEN}⏎",
    ".pypirc": f"[pypi]⏎password = {_TOKEN}⏎",
    ".aws/credentials": f"[default]⏎aws_secret_access_key = {_TOKEN}⏎",
    "secrets.yaml": f"database:⏎  password: {_TOKEN}⏎",
    "secrets.json": f'{{"KEY": "{_TOKEN}"}}⏎',
    "credentials.json": f'{{"client_secret": "{_TOKEN}"}}⏎',
    "terraform.tfvars": f'db_password = "{_TOKEN}"⏎',
    "terraform.tfstate": f'{{"outputs": {{"KEY": "{_TOKEN}"}}}}⏎',
    "keys.txt": _KEY,
    "settings.txt": f"KEY={_GITHUB}⏎TOKEN={_TOKEN}{_TOKEN}⏎PASSWORD={_TOKEN}⏎SECRET={_TOKEN}b⏎",
}


def _not_seen(path: str, text: str) -> list[Scenario]:
    """Open it beside a source file: it is never in a prompt, and never completed."""
    return [
        scenario(
            "I1",
            f"{path} is no context",
            _APP,
            Open(path, text, "plaintext"),
            Open("app.py"),
            Ask(),
            Type("KEY"),
            Ask(),
            Prompt(lacks=(_TOKEN, _GITHUB)),
            path="app.py",
            same_text=False,
        ),
        scenario(
            "I1",
            f"{path} is not completed",
            text + "│",
            Ask(shows=None),
            Ask(shows=None, invoked=True),
            Type("A"),
            Ask(shows=None),
            Fills(0),
            path=path,
            language="plaintext",
            otherwise="leaked",
            same_text=False,
        ),
    ]


# fmt: off
SCENARIOS: Final[list[Scenario]] = [
    *(one for path, text in _SECRETS.items() for one in _not_seen(path, text)),
    scenario("I1", "says why", "KEY=│⏎", Ask(shows=None), Reasons(("secret",)), path=".env", language="dotenv",
             same_text=False),
    scenario("I1", "on disk", _APP, Open("other.py", "KEY = 1"), Open("app.py"), Ask(), Type("KEY"), Ask(),
             Prompt(lacks=(_TOKEN,)), path="app.py", files={".env": f"KEY={_TOKEN}\n",
             "config/secrets.yaml": f"KEY: {_TOKEN}\n"}),
    scenario("I1", "comes while the server runs", _APP, Ask(), Write(".env", f"KEY={_TOKEN}\n"), Type("KEY"), Ask(),
             Type("1"),
             Ask(), Prompt(lacks=(_TOKEN,)), path="app.py", files={}),
    scenario("I1", "closed again", _APP, Open(".env", f"KEY={_TOKEN}⏎", "dotenv"), Close(), Open("app.py"), Ask(),
             Prompt(lacks=(_TOKEN,)), path="app.py"),
    scenario("I1", "a key pasted into a source file is no context elsewhere", _APP,
             Open("other.py", f"KEY = '{_GITHUB}'⏎"), Open("app.py"), Ask(), Type("KEY"), Ask(),
             Prompt(lacks=(_GITHUB,)),
             path="app.py", same_text=False),
    scenario("I1", "becomes one while it is open", _APP, Open("other.txt", "│", "plaintext"), Type(_KEY.replace("⏎",
             " ")),
             Open("app.py"), Ask(), Prompt(lacks=(_TOKEN,)), path="app.py", same_text=False),
    # I2: secret without being ignored
    scenario("I2", "secrets.yaml", _APP, Open("secrets.yaml", f"KEY: {_TOKEN}⏎", "yaml"), Open("app.py"), Ask(),
             Type("KEY"), Ask(), Prompt(lacks=(_TOKEN,)), path="app.py", files={}, same_text=False),
    scenario("I2", "code about secrets is code", "x = │⏎", Ask(shows="1"), plays=["1"], path="secrets.py"),
    scenario("I2", "an example of an environment", "KEY=│⏎", Ask(shows="value"), plays=["value"], path=".env.example",
             language="dotenv"),
    scenario("I2", "names of settings are no secrets", "password = os.environ[│]⏎", Ask(shows='"PASSWORD"'),
             plays=['"PASSWORD"'], path="app.py"),
]
