"""What the exceptions of the storage libraries mean to the person who has to do something about them.

Here: one translation for botocore, object_store (whose errors are text only), aiohttp and the operating system, and the
question whether trying again may help. Not here: how often it is tried again (`retries`), and failures of single
objects (`s3_objects`, `local_objects`).
"""

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager

import aiohttp
from botocore.exceptions import BotoCoreError, ClientError
from deltalake.exceptions import DeltaError

from pipelines.storage.errors import StoreConfigurationError, StoreError, StoreUnavailableError
from pipelines.storage.options import StoreOptions, redact

STORAGE_ERRORS = (OSError, DeltaError, BotoCoreError, ClientError, aiohttp.ClientError)
"""Everything that the storage libraries raise; anything else is a fault of ours and passes through."""

SHOWN_CHARACTERS = 240
REFUSED = "the credentials are refused; check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and the bucket's policy"
EXPIRED = "the session token has expired; renew the credentials"
NO_CREDENTIALS = "no credentials were found; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
OTHER_REGION = "the region is wrong; set AWS_REGION to the bucket's"
ADVICE = {
    "NoSuchBucket": "the bucket does not exist; create it or correct the URL",
    "InvalidBucketName": "the bucket's name is not valid; correct the URL",
    "InvalidAccessKeyId": REFUSED,
    "SignatureDoesNotMatch": REFUSED,
    "ExpiredToken": EXPIRED,
    "TokenRefreshRequired": EXPIRED,
    "InvalidToken": REFUSED,
    "AuthorizationHeaderMalformed": OTHER_REGION,
    "PermanentRedirect": OTHER_REGION,
    "NoCredentials": NO_CREDENTIALS,
    "Unable to locate credentials": NO_CREDENTIALS,
    "AccessDenied": REFUSED,
    "Forbidden": REFUSED,
    "Unauthorized": REFUSED,
}
LOCAL_CONFIGURATION = (errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.EPERM, errno.EROFS, errno.ENAMETOOLONG)
LOCAL_FAILURE = re.compile(
    r'Os \{ code: (?P<code>\d+), kind: \w+, message: "(?P<message>[^"]*)"'
    r"|(?P<told>[^:()]+) \(os error (?P<number>\d+)\)"
)
"""Of the operating system, as Rust's debugging text has it, or its error text."""
NO_SPACE = "No space left on device"
UNREACHABLE = re.compile(
    r"could not connect|cannot connect|connect timeout|\(connect\)|tcp connect|resolve|dns error", re.IGNORECASE
)
TRANSIENT = re.compile(
    r"connect|resolve|dns error|timed? ?out|SlowDown|Throttl|reduce your request rate|InternalError"
    r"|Service ?Unavailable|Too ?Many ?Requests|RequestTimeout|HTTP error|incomplete|payload is not completed"
    r"|ResponseParserError|\b(429|5\d\d) (Internal|Bad|Service|Gateway|Too|Slow)|\((429|5\d\d)\)",
    re.IGNORECASE,
)
ANSWERED = re.compile(r"<Code>(\w+)</Code>|error occurred \((\w+)\)")
TOO_EARLY, FAILING = (408, 429), 500  # statuses of answers: ask later; and from here on, the server's own failure
NOISE = re.compile(r"\x1b\[[0-9;]*m| \(reached max retries: 0\)")  # terminal colours, and what `retries` does itself


def text_of(error: BaseException) -> str:
    """The exception's name and message on one line, without noise; botocore's with the cause."""
    message, cause = NOISE.sub("", str(error)).replace("↳", ":"), _cause(error)
    return " ".join(f"{type(error).__name__}: {message}{f' ({cause})' if cause else ''}".split())


def is_transient(error: BaseException) -> bool:
    """Whether trying again may help: time-outs, lost connections, throttling, 5xx answers, truncated bodies."""
    if isinstance(error, (ConnectionError, TimeoutError)):
        return True
    if not isinstance(error, STORAGE_ERRORS) or (isinstance(error, OSError) and error.errno is not None):
        return False
    if isinstance(error, ClientError):
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        if status in TOO_EARLY or status >= FAILING:
            return True
    text = text_of(error)
    return TRANSIENT.search(text) is not None and not any(code in text for code in ADVICE)


def is_unreachable(error: BaseException) -> bool:
    """Whether there was no connection at all: more often than not the address is wrong."""
    cause = _cause(error)
    if isinstance(cause, aiohttp.ClientError):  # a connection that broke later has the same name in botocore
        return isinstance(cause, (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError))
    return UNREACHABLE.search(text_of(error)) is not None


def explained(error: BaseException, where: str, options: StoreOptions) -> StoreError:
    """The `StoreError` to raise for `error`: what, where, what to do, in one line without credentials."""
    if isinstance(error, OSError) and error.errno in LOCAL_CONFIGURATION:
        return StoreConfigurationError(f"{where}: {error.strerror}; check that it exists and its permissions")
    text = text_of(error)
    if (told := LOCAL_FAILURE.search(text)) and int(told["code"] or told["number"]) in LOCAL_CONFIGURATION:
        reason = told["message"] or told["told"].strip()
        return StoreConfigurationError(f"{where}: {reason}; check that it exists and its permissions")
    for code, advice in ADVICE.items():
        if code in text:
            return StoreConfigurationError(redact(f"{where}: {advice} ({code})", options))
    answered = ANSWERED.search(text)
    shown = redact(f"it answered {answered[1] or answered[2]}" if answered else text, options)
    if len(shown) > SHOWN_CHARACTERS:
        shown = f"{shown[: SHOWN_CHARACTERS // 2]} ... {shown[-SHOWN_CHARACTERS // 2 :]}"
    if NO_SPACE in text:
        return StoreUnavailableError(f"{where}: {NO_SPACE}; free some and run it again")
    if is_unreachable(error):
        endpoint = options.object_store.get("aws_endpoint")
        advice = "check AWS_ENDPOINT_URL and the network" if endpoint else "check the network"
        return StoreUnavailableError(f"{where}: cannot reach {endpoint or 'the store'}; {advice}")
    return StoreUnavailableError(f"{where}: the store failed; try again later ({shown})")


def _cause(error: BaseException) -> BaseException | None:
    """What botocore wraps."""
    cause = error.kwargs.get("error") if isinstance(error, BotoCoreError) else None
    return cause if isinstance(cause, BaseException) else None


@contextmanager
def explaining(where: str, options: StoreOptions) -> Iterator[None]:
    """Raise what the storage libraries raise as `StoreError`, without their tracebacks, which may hold credentials."""
    try:
        yield
    except STORAGE_ERRORS as error:
        raise explained(error, where, options) from None
