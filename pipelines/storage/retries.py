"""Trying again: how often, how long apart, and when to give up. One policy for all that is asked of a store.

Here: the policy, for plain calls and for coroutines. Not here: which failures are worth another try (`failures`), and
what object_store tries again within one call (`options`).
"""

from typing import Any

import tenacity

from pipelines.storage.failures import is_transient, is_unreachable

ATTEMPTS = 8
UNREACHABLE_ATTEMPTS = 3  # most often the address is wrong, and whoever waits should know
LONGEST_SECONDS = 60.0  # nothing is started again after that
FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS = 0.1, 5.0  # doubled from the one to the other, and each wait is random below


def retrying(attempts: int = ATTEMPTS, *passing: type[BaseException]) -> tenacity.Retrying:
    """Calls a function again while its failures are transient, or one of `passing`; raises the last of them."""
    policy = _policy(attempts)
    return tenacity.Retrying(**{**policy, "retry": policy["retry"] | tenacity.retry_if_exception_type(passing)})


def retrying_async(attempts: int = ATTEMPTS) -> tenacity.AsyncRetrying:
    """Awaits a coroutine function again while its failures are transient; raises the last of them."""
    return tenacity.AsyncRetrying(**_policy(attempts))


def _policy(attempts: int) -> dict[str, Any]:
    def spent(state: tenacity.RetryCallState) -> bool:
        failure = state.outcome.exception() if state.outcome else None
        unreachable = failure is not None and is_unreachable(failure)
        most = min(attempts, UNREACHABLE_ATTEMPTS) if unreachable else attempts
        return state.attempt_number >= most or (state.seconds_since_start or 0) >= LONGEST_SECONDS

    return {
        "retry": tenacity.retry_if_exception(is_transient),
        "stop": spent,
        "wait": tenacity.wait_random_exponential(multiplier=FIRST_WAIT_SECONDS, max=LONGEST_WAIT_SECONDS),
        "reraise": True,
    }
