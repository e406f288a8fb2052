"""One mapping from the standard AWS variables to what s3fs and object_store (delta-rs, Polars) each call them.

Here: the only place that knows both spellings. Not here: the environment itself (`pipelines.settings` reads it and
passes the `AWS_*` variables in) and anything that opens a store.

https://docs.rs/object_store/latest/object_store/aws/enum.AmazonS3ConfigKey.html
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any
from urllib.parse import urlsplit

import botocore.exceptions
import botocore.session

from pipelines.storage.errors import StoreConfigurationError

SCHEMES = ("file", "s3", "memory")
CONNECT_SECONDS = 5
READ_SECONDS = 60
POOL_CONNECTIONS = 64
DELTA_RETRIES = {
    "max_retries": "5",
    "retry_timeout": "20s",
    "backoff_config.init_backoff": "25ms",  # of the many small requests that open a table one may fail cheaply
    "backoff_config.max_backoff": "2s",
}

KNOWN = (
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_PROFILE",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_ENDPOINT_URL",
    "AWS_ENDPOINT_URL_S3",
    "AWS_ALLOW_HTTP",
    "AWS_SKIP_SIGNATURE",
    "AWS_VIRTUAL_HOSTED_STYLE_REQUEST",
)
# Variables that the AWS libraries read by themselves where no credentials are given, or that concern other tools.
LEFT_TO_OTHERS = (
    "AWS_ACCOUNT_ID",
    "AWS_CA_BUNDLE",
    "AWS_CLI_",
    "AWS_CONFIG_FILE",
    "AWS_CONTAINER_",
    "AWS_DEFAULT_OUTPUT",
    "AWS_DEFAULT_PROFILE",
    "AWS_EC2_METADATA_",
    "AWS_EXECUTION_ENV",
    "AWS_LAMBDA_",
    "AWS_MAX_ATTEMPTS",
    "AWS_PAGER",
    "AWS_RETRY_MODE",
    "AWS_ROLE_",
    "AWS_SDK_",
    "AWS_SHARED_CREDENTIALS_FILE",
    "AWS_SSO_",
    "AWS_STS_",
    "AWS_VAULT",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
)
BOOLEANS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


@dataclass(frozen=True)
class StoreOptions:
    """How to open one URL: keyword arguments for fsspec, storage options for object_store. Its repr shows neither."""

    fsspec: Mapping[str, Any] = field(default_factory=dict, repr=False)
    object_store: Mapping[str, str] = field(default_factory=dict, repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)

    @property
    def delta(self) -> dict[str, str]:
        """The storage options for delta-rs. Its own retries are many and slow, and Polars spells them otherwise."""
        return {**self.object_store, **DELTA_RETRIES} if self.object_store else {}


def scheme(url: str) -> str:
    """`file` (also for a plain path), `s3` or `memory`.

    Raises:
        StoreConfigurationError: any other scheme, or no bucket after `s3://`.
    """
    found = url.split("://", 1)[0] if "://" in url else "file"
    if found not in SCHEMES:
        raise StoreConfigurationError(f"{url}: the scheme {found}:// is not supported; use a path, s3:// or memory://")
    if found == "s3" and not urlsplit(url).netloc:
        raise StoreConfigurationError(f"{url}: no bucket is named; write s3://bucket/prefix")
    return found


def store_options(url: str, variables: Mapping[str, str]) -> StoreOptions:
    """The options for `url` (a local path, `file://`, `s3://` or `memory://`) from the given `AWS_*` variables.

    Only `s3://` looks at the variables; an empty value counts as absent. `AWS_PROFILE` is resolved here, so that every
    library uses the same credentials; without it and without keys, each finds the machine's own role.

    Raises:
        StoreConfigurationError: a variable is not known (the nearest known one is named), two contradict each other, or
            the scheme is not supported.
    """
    if scheme(url) != "s3":
        return StoreOptions()
    given = {name: value for name, value in variables.items() if value}
    for name in given:
        if name not in KNOWN and not name.startswith(LEFT_TO_OTHERS):
            near = get_close_matches(name, KNOWN, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise StoreConfigurationError(f"{name}: unknown storage option{hint}")
    key, secret, token = _credentials(given)
    endpoint = given.get("AWS_ENDPOINT_URL_S3") or given.get("AWS_ENDPOINT_URL")
    if endpoint and not (endpoint.startswith(("http://", "https://")) and urlsplit(endpoint).hostname):
        raise StoreConfigurationError("AWS_ENDPOINT_URL: not an http:// or https:// URL")
    plain_http = (endpoint or "").startswith("http://")
    if plain_http and not _boolean(given, "AWS_ALLOW_HTTP", default=True):
        raise StoreConfigurationError("AWS_ALLOW_HTTP is false, but AWS_ENDPOINT_URL is an http:// address")
    region = given.get("AWS_REGION") or given.get("AWS_DEFAULT_REGION") or ("us-east-1" if endpoint else None)
    anonymous = _boolean(given, "AWS_SKIP_SIGNATURE", default=False)
    virtual = _boolean(given, "AWS_VIRTUAL_HOSTED_STYLE_REQUEST", default=False)
    # Custom endpoints are addressed by path unless asked otherwise: botocore's own guess differs from object_store's.
    addressing = "virtual" if virtual else "path" if endpoint else "auto"
    fsspec_options = {
        "key": key,
        "secret": secret,
        "token": token,
        "anon": anonymous or None,
        "endpoint_url": endpoint,
        "client_kwargs": {"region_name": region} if region else None,
        "config_kwargs": {
            "connect_timeout": CONNECT_SECONDS,
            "read_timeout": READ_SECONDS,
            "retries": {"mode": "standard", "total_max_attempts": 1},  # the artifact store retries, with its own limits
            "max_pool_connections": POOL_CONNECTIONS,
            "s3": {"addressing_style": addressing},
        },
        "use_listings_cache": False,  # a listing is taken once and must be fresh
    }
    object_store_options = {
        "aws_access_key_id": key,
        "aws_secret_access_key": secret,
        "aws_session_token": token,
        "aws_skip_signature": "true" if anonymous else None,
        "aws_endpoint": endpoint,
        "aws_region": region,
        "aws_allow_http": "true" if plain_http else None,
        "aws_virtual_hosted_style_request": "true" if virtual else None,
        "aws_conditional_put": "etag",  # a commit is a put-if-absent: two writers can never both win one version
        "connect_timeout": f"{CONNECT_SECONDS}s",
        "timeout": f"{READ_SECONDS}s",
    }
    return StoreOptions(
        fsspec={name: value for name, value in fsspec_options.items() if value is not None},
        object_store={name: value for name, value in object_store_options.items() if value is not None},
        secrets=tuple(text for text in (secret, token, key) if text),
    )


def redact(text: str, options: StoreOptions) -> str:
    """`text` with every secret of `options` replaced by `***`."""
    for secret in options.secrets:
        text = text.replace(secret, "***")
    return text


def _credentials(given: Mapping[str, str]) -> tuple[str | None, str | None, str | None]:
    key, secret = given.get("AWS_ACCESS_KEY_ID"), given.get("AWS_SECRET_ACCESS_KEY")
    if (key is None) != (secret is None):
        raise StoreConfigurationError("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must be set together")
    if key is not None or "AWS_PROFILE" not in given:
        return key, secret, given.get("AWS_SESSION_TOKEN")
    profile = given["AWS_PROFILE"]
    try:
        found = botocore.session.Session(profile=profile).get_credentials()
    except botocore.exceptions.BotoCoreError as error:
        raise StoreConfigurationError(f"AWS_PROFILE {profile}: {error}") from None
    if found is None:
        raise StoreConfigurationError(f"AWS_PROFILE {profile}: the profile holds no credentials")
    frozen = found.get_frozen_credentials()
    return frozen.access_key, frozen.secret_key, frozen.token


def _boolean(given: Mapping[str, str], name: str, *, default: bool) -> bool:
    if name not in given:
        return default
    try:
        return BOOLEANS[given[name].lower()]
    except KeyError:
        raise StoreConfigurationError(f"{name}: {given[name]!r} is neither true nor false") from None
