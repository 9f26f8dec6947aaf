"""A REST catalog that vends the keys of its tables' files: Firn needs none of its own."""

import json
import time

import pytest
from counting_proxy import counting_proxy
from events import BATCH, content, events
from pyiceberg.catalog.rest import RestCatalog

TABLE = "vended.events"


class TokenService:
    """Vends keys with session tokens, each for some requests, and sees that a bucket is asked with a good one."""

    def __init__(self, uses):
        self.uses = uses
        self.left = {}
        self.refused = []
        self.s3_uri = ""

    def vend(self, path, content):
        """Adds keys for its files to what the catalog says of a table."""
        if not path.endswith("/tables/events"):
            return content
        answer = json.loads(content)
        if "metadata" not in answer:
            return content
        token = f"token-{len(self.left)}"
        self.left[token] = self.uses
        answer["storage-credentials"] = [{"prefix": answer["metadata"]["location"], "config": {
            "s3.endpoint": self.s3_uri,
            "s3.access-key-id": "firn",
            "s3.secret-access-key": "firn-secret",
            "s3.session-token": token,
            "s3.session-token-expires-at-ms": str(int((time.time() + 3600) * 1000)),
        }}]
        return json.dumps(answer).encode()

    def refuse(self, _, headers):
        """As S3 does: a token that is not signed, or of other keys, is refused for good; one that ended is told."""
        token = headers.get("x-amz-security-token", "")
        if "x-amz-security-token" not in headers["Authorization"] or token not in self.left:
            self.refused.append(token)
            return 400, b"<Error><Code>InvalidToken</Code><Message>The provided token is malformed</Message></Error>"
        self.left[token] -= 1
        if self.left[token] >= 0:
            return None
        self.refused.append("expired")
        return 400, b"<Error><Code>ExpiredToken</Code><Message>The provided token has expired.</Message></Error>"


@pytest.fixture
def catalog(rest, s3):
    catalog = RestCatalog("rest", uri=rest.uri, **{"s3.endpoint": s3.uri, "s3.access-key-id": "firn",
                                                   "s3.secret-access-key": "firn-secret", "s3.region": "us-east-1"})
    yield catalog
    catalog.drop_table(TABLE)


@pytest.mark.parametrize("uses, expires", [(1000, False), (3, True)], ids=["one token", "tokens that end"])
def test_files_are_reached_with_what_the_catalog_vends(lake, rest, s3, catalog, monkeypatch, uses, expires):
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    tokens = TokenService(uses)
    with counting_proxy(s3.port, refuse=tokens.refuse) as bucket, counting_proxy(rest.port, change=tokens.vend) as proxy:
        tokens.s3_uri = bucket.uri
        (lake.folder / "firn.yaml").write_text(f"catalog: {{type: rest, uri: '{proxy.uri}'}}\nwal: {{path: wal}}\n")
        lake.firn("load", TABLE, lake.write_parquet(events(0)), "--create")
        lake.firn_appends(TABLE, events(BATCH))
        lake.firn("inspect", "files", TABLE)
    assert [path for method, path in bucket.requests if method == "PUT"]
    assert set(tokens.refused) == ({"expired"} if expires else set())
    assert content(catalog.load_table(TABLE).scan().to_arrow()) == content(events(0, 2 * BATCH))


def test_without_vended_keys_the_error_says_what_is_missing(lake, rest, s3, catalog, monkeypatch):
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    catalog.create_namespace_if_not_exists("vended")
    catalog.create_table(TABLE, events(0).schema)
    (lake.folder / "firn.yaml").write_text(f"""catalog: {{type: rest, uri: '{rest.uri}', 's3.endpoint': '{s3.uri}'}}
wal: {{path: wal}}
""")
    said = lake.firn_appends(TABLE, events(0), code=1).stderr
    assert "no S3 credentials" in said and "AWS_ACCESS_KEY_ID" in said
