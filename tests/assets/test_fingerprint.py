"""Fingerprints: what differs has another one."""

from assets.fingerprint import fingerprint


def test_a_fingerprint_tells_parts_apart() -> None:
    told = [
        [],
        ["a"],
        ["b"],
        ["a", "b"],
        ["b", "a"],
        ["ab"],
        ["a,b"],
        [["a", "b"]],
        [None],
        ["None"],
        ["ä"],
        [1],
        ["1"],
    ]
    assert len({fingerprint(parts) for parts in told}) == len(told)
    assert fingerprint(["a", None]) == fingerprint(iter(["a", None]))
