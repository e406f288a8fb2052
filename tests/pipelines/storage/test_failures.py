"""What the libraries' errors become: which class, which advice, and what is tried again."""

from unittest.mock import Mock

import aiohttp
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, NoCredentialsError, ReadTimeoutError
from deltalake.exceptions import DeltaError

from pipelines.storage.errors import StoreConfigurationError, StoreError, StoreUnavailableError
from pipelines.storage.failures import explained, explaining, is_transient, is_unreachable
from pipelines.storage.options import store_options

VARIABLES = {"AWS_ACCESS_KEY_ID": "AKIA-1", "AWS_SECRET_ACCESS_KEY": "hush", "AWS_ENDPOINT_URL": "http://127.0.0.1:1"}
OPTIONS = store_options("s3://bucket", VARIABLES)


def answered(code: str, status: int = 400) -> ClientError:
    return ClientError(
        {"Error": {"Code": code, "Message": "m"}, "ResponseMetadata": {"HTTPStatusCode": status}}, "GetObject"
    )


LOST = aiohttp.ClientOSError(104, "Connection reset by peer")
NO_ANSWER = aiohttp.ClientConnectorError(Mock(), ConnectionRefusedError(111, "Connection refused"))
TRANSIENT = [
    EndpointConnectionError(endpoint_url="http://127.0.0.1:1"),
    ReadTimeoutError(endpoint_url="http://127.0.0.1:1"),
    answered("SlowDown", 503),
    answered("InternalError", 500),
    answered("ServiceUnavailable", 503),
    answered("503", 503),
    answered("TooManyRequests", 429),
    answered("429", 429),
    answered("ServerBusy", 503),
    answered("RequestTimeTooLong", 408),
    EndpointConnectionError(endpoint_url="http://127.0.0.1:1", error=LOST),
    answered("RequestTimeout"),
    ConnectionResetError(104, "Connection reset by peer"),
    TimeoutError(),
    OSError(
        "Generic S3 error\n \x1b[31m↳\x1b[0m Error performing GET http://h/b - Server returned 503 Service Unavailable"
    ),
    DeltaError("Kernel error: error sending request: client error (Connect): tcp connect error"),
]
LASTING = [
    answered("AccessDenied", 403),
    answered("NoSuchBucket", 404),
    answered("SignatureDoesNotMatch", 403),
    answered("InvalidObjectState", 403),
    NoCredentialsError(),
    FileNotFoundError(2, "No such file or directory", "/connect/timeout"),
    PermissionError(13, "Permission denied"),
    DeltaError("Generic error: schema mismatch"),
    OSError("403 Forbidden <Code>InvalidAccessKeyId</Code> after connect"),
    ValueError("timed out"),
    StoreUnavailableError("cannot reach"),
]


@pytest.mark.parametrize("error", TRANSIENT, ids=str)
def test_these_are_tried_again_and_then_unavailable(error: Exception) -> None:
    assert is_transient(error)
    assert isinstance(explained(error, "s3://bucket: cannot list", OPTIONS), StoreUnavailableError)


@pytest.mark.parametrize("error", LASTING, ids=str)
def test_these_are_not_tried_again(error: Exception) -> None:
    assert not is_transient(error)


@pytest.mark.parametrize(
    ("error", "kind", "told"),
    [
        (answered("NoSuchBucket"), StoreConfigurationError, "the bucket does not exist; create it or correct the URL"),
        (answered("ExpiredToken"), StoreConfigurationError, "the session token has expired; renew the credentials"),
        (answered("PermanentRedirect"), StoreConfigurationError, "set AWS_REGION to the bucket's"),
        (NoCredentialsError(), StoreConfigurationError, "no credentials were found; set AWS_ACCESS_KEY_ID"),
        (FileNotFoundError(2, "No such file or directory"), StoreConfigurationError, "check that it exists"),
        (OSError(28, "No space left on device"), StoreUnavailableError, "No space left on device"),
        (TRANSIENT[0], StoreUnavailableError, "cannot reach http://127.0.0.1:1; check AWS_ENDPOINT_URL"),
    ],
)
def test_the_line_says_what_where_and_what_to_do(error: Exception, kind: type[StoreError], told: str) -> None:
    found = explained(error, "s3://bucket/x: cannot list", OPTIONS)

    assert type(found) is kind
    assert str(found).startswith("s3://bucket/x: cannot list: ")
    assert told in str(found)


@pytest.mark.parametrize(
    ("error", "unreachable"),
    [
        (EndpointConnectionError(endpoint_url="http://127.0.0.1:1"), True),
        (EndpointConnectionError(endpoint_url="http://127.0.0.1:1", error=NO_ANSWER), True),
        (OSError("error sending request: client error (Connect): tcp connect error: Connection refused"), True),
        (EndpointConnectionError(endpoint_url="http://127.0.0.1:1", error=LOST), False),
        (OSError("client error (SendRequest): connection error: Connection reset by peer (os error 104)"), False),
        (answered("InternalError", 500), False),
    ],
)
def test_no_connection_is_told_from_a_lost_one(error: Exception, unreachable: bool) -> None:
    assert is_unreachable(error) is unreachable
    assert ("check AWS_ENDPOINT_URL" in str(explained(error, "here", OPTIONS))) is unreachable


@pytest.mark.parametrize(
    "error",
    [answered("SlowDown", 503), OSError("503 Service Unavailable: <Error><Code>SlowDown</Code></Error>")],
)
def test_an_answer_is_told_by_its_code(error: Exception) -> None:
    assert str(explained(error, "here", OPTIONS)) == "here: the store failed; try again later (it answered SlowDown)"


def test_a_line_is_one_short_line_without_credentials_or_colours() -> None:
    error = OSError("Generic error\n \x1b[31m↳\x1b[0m signed by AKIA-1 with hush " + "x" * 5000 + " the end")

    told = str(explained(error, "here", OPTIONS))

    assert "\n" not in told
    assert "\x1b" not in told
    assert "hush" not in told
    assert "AKIA-1" not in told
    assert len(told) < 400
    assert told.endswith("the end)")


def test_only_storage_errors_are_explained() -> None:
    with pytest.raises(ZeroDivisionError), explaining("here", OPTIONS):
        raise ZeroDivisionError
    with pytest.raises(StoreConfigurationError, match="as it was"), explaining("here", OPTIONS):
        raise StoreConfigurationError("as it was")
    with pytest.raises(StoreUnavailableError) as caught, explaining("here", OPTIONS):
        raise TimeoutError
    assert caught.value.__suppress_context__


def test_a_full_disk_is_told_as_such() -> None:
    error = OSError(
        "Generic LocalFileSystem error : Unable to copy data to file : No space left on device (os error 28)"
    )
    assert str(explained(error, "/t/rewards: cannot commit", OPTIONS)) == (
        "/t/rewards: cannot commit: No space left on device; free some and run it again"
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Unable to open file /t/_delta_log/16.json#1 : Read-only file system (os error 30)", "Read-only file system"),
        ('Unable to open: Os { code: 13, kind: PermissionDenied, message: "Permission denied" }', "Permission denied"),
    ],
)
def test_a_folder_that_cannot_be_written_is_no_passing_failure(text: str, reason: str) -> None:
    found = explained(OSError(f"Generic LocalFileSystem error : {text}"), "/t/rewards: cannot commit", OPTIONS)
    assert type(found) is StoreConfigurationError
    assert str(found) == f"/t/rewards: cannot commit: {reason}; check that it exists and its permissions"
