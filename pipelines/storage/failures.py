"""What the exceptions of the storage libraries mean to the person who has to do something about them.

Here: one translation for botocore, object_store (whose errors are text only), aiohttp and the operating system, and the
question whether trying again may help. Not here: retry loops, and failures of single objects (`artifact_store`).
"""

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager

from pipelines.storage.errors import StoreConfigurationError, StoreError, StoreUnavailableError
from pipelines.storage.options import StoreOptions, redact

SHOWN_CHARACTERS = 240
CREDENTIALS = "the credentials are refused; check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and the bucket's policy"
ADVICE = {
    "NoSuchBucket": "the bucket does not exist; create it or correct the URL",
    "InvalidBucketName": "the bucket's name is not valid; correct the URL",
    "InvalidAccessKeyId": CREDENTIALS,
    "SignatureDoesNotMatch": CREDENTIALS,
    "ExpiredToken": "the session token has expired; renew the credentials",
    "InvalidToken": CREDENTIALS,
    "TokenRefreshRequired": "the session token has expired; renew the credentials",
    "AuthorizationHeaderMalformed": "the region is wrong; set AWS_REGION to the bucket's",
    "PermanentRedirect": "the region is wrong; set AWS_REGION to the bucket's",
    "NoCredentials": "no credentials were found; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE",
    "Unable to locate credentials": "no credentials were found; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    "AccessDenied": CREDENTIALS,
    "Forbidden": CREDENTIALS,
    "Unauthorized": CREDENTIALS,
    "InvalidRegion": "the region is not valid; correct AWS_REGION",
    "Invalid endpoint": "the endpoint is not a URL; correct AWS_ENDPOINT_URL",
    "URL scheme is not allowed": "the endpoint is not a URL; correct AWS_ENDPOINT_URL",
}
LOCAL_CONFIGURATION = (errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.EPERM, errno.EROFS, errno.ENAMETOOLONG)
UNREACHABLE = ("onnect", "resolve", "dns error")
TRANSIENT = (
    *UNREACHABLE,
    "imed out",
    "imeout",
    "SlowDown",
    "Throttl",
    "RequestTimeTooSkewed",
    "reduce your request rate",
    "InternalError",
    "ServiceUnavailable",
    "Service Unavailable",
    "Too Many Requests",
    "HTTP error",
    "incomplete",
    "ContentLengthError",
    "payload is not completed",
)
SERVER_ERROR = re.compile(r"\b(429|5\d\d)\b (Internal|Bad|Service|Gateway|Too|Slow)|\((429|5\d\d)\)")
TERMINAL_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def text_of(error: BaseException) -> str:
    """The exception's name and message on one line, without terminal colours."""
    message = TERMINAL_COLOURS.sub("", str(error)).replace("↳", ":")
    return " ".join(f"{type(error).__name__}: {message}".split())


def is_transient(error: BaseException) -> bool:
    """Whether trying again may help: time-outs, lost connections, throttling, 5xx answers, truncated bodies."""
    if isinstance(error, (ConnectionError, TimeoutError)):
        return True
    if isinstance(error, StoreError) or (isinstance(error, OSError) and error.errno is not None):
        return False
    text = text_of(error)
    if any(code in text for code in ADVICE):
        return False
    return any(word in text for word in TRANSIENT) or SERVER_ERROR.search(text) is not None


def explained(error: BaseException, where: str, options: StoreOptions) -> StoreError:
    """The `StoreError` to raise for `error`: what, where, what to do, in one line without credentials."""
    if isinstance(error, StoreError):
        return error
    if isinstance(error, OSError) and error.errno in LOCAL_CONFIGURATION:
        return StoreConfigurationError(f"{where}: {error.strerror}; check that it exists and its permissions")
    text = text_of(error)
    for code, advice in ADVICE.items():
        if code in text:
            return StoreConfigurationError(redact(f"{where}: {advice} ({code})", options))
    shown = redact(text, options)
    shown = shown if len(shown) <= SHOWN_CHARACTERS else f"{shown[: SHOWN_CHARACTERS // 2]} ... {shown[-SHOWN_CHARACTERS // 2 :]}"
    if any(word in text for word in UNREACHABLE):
        endpoint = options.object_store.get("aws_endpoint")
        check = "check AWS_ENDPOINT_URL and the network" if endpoint else "check the network"
        return StoreUnavailableError(f"{where}: cannot reach {endpoint or 'the store'}; {check} ({shown})")
    return StoreUnavailableError(f"{where}: the store failed; try again later ({shown})")


@contextmanager
def explaining(where: str, options: StoreOptions) -> Iterator[None]:
    """Turn the libraries' storage exceptions into `StoreError`; their tracebacks, which may hold credentials, are cut."""
    try:
        yield
    except StoreError:
        raise
    except Exception as error:
        raise explained(error, where, options) from None
