"""What storage raises: one clear line saying what, where and what to do, and never a credential.

Here: the errors of the artifact store and of the tables. Not here: bad artifacts (a reason on `Fetched`, never an
exception) and broken contracts (`assets.contract.ContractError`).
"""


class StoreError(Exception):
    """Storage failed; the message is one line for people, free of credentials."""


class StoreConfigurationError(StoreError):
    """Nothing works until a setting changes: credentials, a missing bucket or folder, an unknown option or scheme."""


class StoreUnavailableError(StoreError):
    """The store did not answer, or kept failing after the retries; trying again later may help."""
