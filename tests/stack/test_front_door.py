"""Other websites are open in a browser while the stack runs: none of them changes it, or learns anything of it."""

from __future__ import annotations

import http.client
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import botocore.session
import httpx
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from support.worlds.deployed import Deployed
from support.worlds.tenant import Tenant, marker_body
from tools.stack.engine import Engine
from tools.stand_ins.notion import port_of

EVIL = "http://evil.example"
SIGNED = "AWS4-HMAC-SHA256 Credential={key}/20261122/us-east-1/{service}/aws4_request, SignedHeaders=host, Signature=00"
ADMINISTRATION = [
    ("POST", "/_ministack/reset"),
    ("POST", "/_ministack/reset?init=1"),
    ("POST", "/%5Fministack/reset"),
    ("POST", "/_ministack/config"),
    ("GET", "/_ministack/health"),
    ("GET", "/_ministack/lambda-code/baton-api"),
    ("GET", "/_ministack/sqs/messages?account=000000000000"),
    ("GET", "/_localstack/health"),
    ("GET", "/health"),
]


@pytest.fixture
def page(deployed: Deployed) -> Iterator[httpx.Client]:
    """What a page in somebody's browser can send: to this machine, by a name of its own choice, without reading."""
    with httpx.Client(base_url=deployed.stack.endpoint_url, trust_env=False, timeout=30) as client:
        yield client


def api_of(deployed: Deployed) -> str:
    return urlsplit(deployed.stack.api_url).netloc


def test_a_hostile_page_changes_nothing_and_learns_nothing(
    deployed: Deployed, tenant: Tenant, page: httpx.Client
) -> None:
    api, here = api_of(deployed), urlsplit(deployed.stack.endpoint_url).netloc
    wipe = {"Authorization": SIGNED.format(key="test", service="dynamodb")}
    wipe |= {"X-Amz-Target": "DynamoDB_20120810.DeleteTable", "Content-Type": "text/plain"}
    body = f'{{"TableName": "{deployed.stack.table}"}}'.encode()
    hostile: list[dict[str, str]] = [
        {"Origin": EVIL},
        {"Origin": "null"},
        {"Origin": EVIL, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"},
        {"Sec-Fetch-Site": "same-site"},
        {"Host": "evil.example", "Origin": EVIL},
        {"Host": "zzzzzzzz.execute-api.localhost"},
    ]
    with deployed.unchanged():
        for host in (api, here):
            for each in hostile:
                headers = {"Host": host, **each}
                refused(page, "POST", "/", {**wipe, **headers}, body)
                refused(page, "POST", "/handoff-markers", {**bearer(tenant), **headers}, b"{}")
                refused(page, "GET", "/tasks", {**bearer(tenant), **headers})
                for method, path in ADMINISTRATION:
                    refused(page, method, path, headers)
            asks = {"Host": host, "Origin": EVIL, "Access-Control-Request-Method": "POST"}
            refused(page, "OPTIONS", "/handoff-markers", asks)
    assert tenant.human.get("/agents")["items"]


def test_a_refusal_leaves_the_connection_for_the_next_request(deployed: Deployed) -> None:
    """Even where the refused request is still on its way, as it mostly is when its body is sent apart."""
    head = f"POST /tasks HTTP/1.1\r\nHost: {api_of(deployed)}\r\nOrigin: {EVIL}\r\nContent-Length: 2\r\n\r\n"
    with socket.create_connection(("127.0.0.1", deployed.stack.port), timeout=30) as connection:
        for _ in range(2):
            connection.sendall(head.encode())
            time.sleep(0.1)
            connection.sendall(b"{}")
            response = http.client.HTTPResponse(connection)
            response.begin()
            assert response.status == 403
            assert response.read()


def refused(page: httpx.Client, method: str, path: str, headers: dict[str, str], body: bytes | None = None) -> None:
    response = page.request(method, path, headers=headers, content=body)
    assert response.status_code == 403, f"{method} {path} {headers}: {response.status_code} {response.text}"
    assert set(response.json()) == {"message"}
    assert not [name for name in response.headers if name.startswith("access-control")]


def bearer(tenant: Tenant) -> dict[str, str]:
    return {"Authorization": f"Bearer {tenant.human.token}", "Content-Type": "text/plain"}


@pytest.mark.parametrize("key", ["test", "", "000000000000", "ASIA0000000000000000", "AKIA0000000000000000"])
@pytest.mark.parametrize(
    ("service", "target"),
    [("dynamodb", "DynamoDB_20120810.ListTables"), ("secretsmanager", "secretsmanager.ListSecrets")],
)
def test_programs_without_the_key_are_refused(page: httpx.Client, key: str, service: str, target: str) -> None:
    headers = {"X-Amz-Target": target, "Content-Type": "application/x-amz-json-1.1"}
    refused(page, "POST", "/", headers, b"{}")
    refused(page, "POST", "/", headers | {"Authorization": SIGNED.format(key=key, service=service)}, b"{}")
    refused(page, "POST", f"/?X-Amz-Credential={key}/20261122/us-east-1/{service}/aws4_request", headers, b"{}")


def test_not_even_the_functions_own_credentials_do_without_the_key(deployed: Deployed) -> None:
    """They are derived from names, so that anybody could work them out."""
    stack = deployed.stack
    arn = deployed.aws("lambda").get_function_configuration(FunctionName=stack.functions["Api"])["Role"]
    keys = deployed.aws("sts").assume_role(RoleArn=arn, RoleSessionName="test")["Credentials"]
    session = botocore.session.Session()
    session.set_credentials(keys["AccessKeyId"], keys["SecretAccessKey"], keys["SessionToken"])
    client: Any = session.create_client(
        "dynamodb", region_name=stack.region, endpoint_url=stack.endpoint_url, config=Config(proxies={})
    )
    with pytest.raises(ClientError, match="403"):
        client.get_item(TableName=stack.table, Key={"pk": {"S": "x"}, "sk": {"S": "x"}})


@pytest.mark.parametrize(("method", "path"), ADMINISTRATION)
def test_the_engine_is_administered_under_no_name(
    deployed: Deployed, page: httpx.Client, method: str, path: str
) -> None:
    agent = {"User-Agent": f"app/{deployed.stack.engine_key}"}
    for host in (api_of(deployed), urlsplit(deployed.stack.endpoint_url).netloc):
        refused(page, method, path, {"Host": host, **agent})


@pytest.mark.parametrize(
    "path",
    [
        "/oauth2/authorize",
        "/logout",
        "/iceberg/v1/config",
        "/v2/_catalog",
        "/v2/email/identities",
        "/Execute",
        "/v20180820/mrap/instances",
        "/restapis/x/y/_user_request_/z",
        "/_aws/execute-api/x/y",
        "/WriteGetObjectResponse",
    ],
)
def test_what_the_engine_answers_under_any_name_is_no_part_of_the_api(
    deployed: Deployed, page: httpx.Client, path: str
) -> None:
    for method in ("GET", "POST"):
        refused(page, method, path, {"Host": api_of(deployed)})


def test_the_apis_own_pages_may_ask_it(deployed: Deployed, tenant: Tenant, page: httpx.Client) -> None:
    host = api_of(deployed)
    own = {"Host": host, "Origin": f"http://{host}", "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"}
    sent = own | bearer(tenant) | {"Content-Type": "application/json", "Idempotency-Key": "own-page"}
    assert page.post("/handoff-markers", headers=sent, json=marker_body()).status_code == 201
    typed = {"Host": host, "Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert page.get("/healthz", headers=typed).status_code == 200
    followed = typed | {"Sec-Fetch-Site": "cross-site"}
    assert page.get("/healthz", headers=followed).status_code == 200


def test_no_page_reads_or_changes_the_stand_in_for_notion(deployed: Deployed) -> None:
    port = port_of(deployed.stack.notion_url)
    hostile = [
        {"Origin": EVIL},
        {"Host": f"evil.example:{port}"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ]
    with httpx.Client(base_url=deployed.stack.notion_url, trust_env=False) as page:
        before = page.get("/control/databases").json()["databases"]
        for headers in hostile:
            token = headers | {"Authorization": "Bearer ntn_any", "Notion-Version": "2026-03-11"}
            assert page.get("/v1/users/me", headers=token).status_code == 403
            assert page.get("/", headers=headers).status_code == 403
            assert page.post("/control/databases", headers=headers, content=b"{}").status_code == 403
            assert page.post("/control/fault", headers=headers, content=b"{}").status_code == 403
        assert page.options("/v1/pages", headers={"Origin": EVIL}).status_code >= 400
        assert page.get("/control/databases").json()["databases"] == before


def test_only_the_front_door_listens(deployed: Deployed, stack_home: Path) -> None:
    """Nothing of the engine's answers around it."""
    listening = ports_of(stack_home)
    assert listening == {deployed.stack.port}


def ports_of(home: Path) -> set[int]:
    """Where the engine's process, and those that it has started, listen. Only Linux tells."""
    found = Engine(home, home).running()
    assert found is not None
    if not Path("/proc/net/tcp").exists():
        pytest.skip("there is no /proc/net/tcp")
    family = {found[0]}
    for _ in range(4):
        family |= {pid for pid, parent in _parents() if parent in family}
    sockets = {link for pid in family for link in _links(pid)}
    ports = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in sockets:
                ports.add(int(fields[1].rpartition(":")[2], 16))
    return ports


def _parents() -> Iterator[tuple[int, int]]:
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = path.read_text()
        except OSError:
            continue
        yield int(path.parent.name), int(text.rpartition(")")[2].split()[1])


def _links(pid: int) -> Iterator[str]:
    try:
        for path in Path(f"/proc/{pid}/fd").iterdir():
            yield str(path.readlink())
    except OSError:
        return
