"""One mapping of options: what each library is told, what is refused, and that nothing shows a secret."""

from pathlib import Path

import pytest

from pipelines.storage.errors import StoreConfigurationError
from pipelines.storage.options import StoreOptions, redact, scheme, store_options

KEYS = {"AWS_ACCESS_KEY_ID": "the-key", "AWS_SECRET_ACCESS_KEY": "the-secret", "AWS_SESSION_TOKEN": "the-token"}
URL = "s3://bucket/prefix"


@pytest.mark.parametrize(
    ("url", "expected"),
    [("/data", "file"), ("data", "file"), ("file:///data", "file"), (URL, "s3"), ("memory://x", "memory")],
)
def test_scheme(url: str, expected: str) -> None:
    assert scheme(url) == expected


@pytest.mark.parametrize("url", ["gs://bucket", "http://host/x", "s3://", "s3:///x", "simplecache::s3://bucket"])
def test_other_urls_are_refused(url: str) -> None:
    with pytest.raises(StoreConfigurationError, match="://"):
        store_options(url, {})


def test_both_libraries_get_the_same() -> None:
    options = store_options(URL, {**KEYS, "AWS_REGION": "eu-central-1", "AWS_ENDPOINT_URL": "https://s3.example"})

    told = options.fsspec
    assert (told["key"], told["secret"], told["token"]) == ("the-key", "the-secret", "the-token")
    assert told["endpoint_url"] == "https://s3.example"
    assert told["client_kwargs"] == {"region_name": "eu-central-1"}
    assert told["config_kwargs"]["s3"] == {"addressing_style": "path"}
    assert told["use_listings_cache"] is False
    assert options.object_store == {
        "aws_access_key_id": "the-key",
        "aws_secret_access_key": "the-secret",
        "aws_session_token": "the-token",
        "aws_endpoint": "https://s3.example",
        "aws_region": "eu-central-1",
        "aws_conditional_put": "etag",
        "connect_timeout": "5s",
        "timeout": "60s",
    }
    assert options.delta.items() > options.object_store.items()


def test_a_plain_http_endpoint_is_allowed_without_another_setting() -> None:
    options = store_options(URL, {**KEYS, "AWS_ENDPOINT_URL": "http://127.0.0.1:9000"})

    assert options.object_store["aws_allow_http"] == "true"
    assert options.object_store["aws_region"] == "us-east-1"


@pytest.mark.parametrize(
    ("variables", "region", "endpoint"),
    [
        ({"AWS_REGION": "a", "AWS_DEFAULT_REGION": "b"}, "a", None),
        ({"AWS_REGION": "", "AWS_DEFAULT_REGION": "b"}, "b", None),
        ({"AWS_ENDPOINT_URL": "https://one", "AWS_ENDPOINT_URL_S3": "https://two"}, "us-east-1", "https://two"),
    ],
)
def test_the_more_special_variable_wins(variables: dict[str, str], region: str, endpoint: str | None) -> None:
    told = store_options(URL, {**KEYS, **variables}).object_store

    assert (told.get("aws_region"), told.get("aws_endpoint")) == (region, endpoint)


def test_anonymous_and_virtual_hosts() -> None:
    options = store_options(URL, {"AWS_SKIP_SIGNATURE": "true", "AWS_VIRTUAL_HOSTED_STYLE_REQUEST": "1"})

    assert options.fsspec["anon"] is True
    assert options.fsspec["config_kwargs"]["s3"] == {"addressing_style": "virtual"}
    assert options.object_store["aws_skip_signature"] == "true"
    assert options.object_store["aws_virtual_hosted_style_request"] == "true"


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ({"AWS_ENDPONT_URL": "https://x"}, "AWS_ENDPONT_URL: unknown storage option; did you mean AWS_ENDPOINT_URL"),
        ({"AWS_S3_ALLOW_UNSAFE_RENAME": "true"}, "AWS_S3_ALLOW_UNSAFE_RENAME: unknown storage option"),
        ({"endpoint_url": "https://x"}, "endpoint_url: unknown storage option"),
        ({"AWS_ACCESS_KEY_ID": "the-key"}, "must be set together"),
        ({"AWS_SECRET_ACCESS_KEY": "the-secret"}, "must be set together"),
        ({"AWS_ENDPOINT_URL": "127.0.0.1:9000"}, "AWS_ENDPOINT_URL: not an http:// or https:// URL"),
        ({"AWS_ENDPOINT_URL": "http://x", "AWS_ALLOW_HTTP": "false"}, "AWS_ALLOW_HTTP is false"),
        ({"AWS_ALLOW_HTTP": "perhaps", "AWS_ENDPOINT_URL": "http://x"}, "'perhaps' is neither true nor false"),
        ({"AWS_PROFILE": "nobody"}, "AWS_PROFILE nobody"),
    ],
)
def test_what_cannot_be_right_is_refused(variables: dict[str, str], told: str) -> None:
    with pytest.raises(StoreConfigurationError, match=told) as caught:
        store_options(URL, variables)

    assert "the-secret" not in str(caught.value)


@pytest.mark.parametrize(
    "name", ["AWS_PAGER", "AWS_EXECUTION_ENV", "AWS_ROLE_ARN", "AWS_CONTAINER_CREDENTIALS_FULL_URI"]
)
def test_variables_of_other_tools_are_left_alone(name: str) -> None:
    assert store_options(URL, {**KEYS, name: "x"}) == store_options(URL, KEYS)


def test_only_s3_looks_at_the_variables() -> None:
    assert store_options("/data", {"AWS_NONSENSE": "x"}) == StoreOptions()
    assert store_options("/data", {}).delta == {}


def test_a_profile_gives_both_libraries_its_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    credentials = tmp_path / "credentials"
    credentials.write_text("[work]\naws_access_key_id = profile-key\naws_secret_access_key = profile-secret\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(credentials))

    options = store_options(URL, {"AWS_PROFILE": "work"})

    assert (options.fsspec["key"], options.object_store["aws_access_key_id"]) == ("profile-key", "profile-key")
    assert options.secrets == ("profile-secret", "profile-key")
    assert store_options(URL, {**KEYS, "AWS_PROFILE": "work"}).fsspec["key"] == "the-key"


def test_secrets_are_neither_shown_nor_left_in_text() -> None:
    options = store_options(URL, KEYS)

    assert "the-" not in repr(options) + str(options)
    assert redact("GET the-secret by the-key with the-token", options) == "GET *** by *** with ***"
