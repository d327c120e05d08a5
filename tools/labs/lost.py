"""What a check raises: points that are lost."""

EVIDENCE_LINES = 12
SEEN_BYTES = 400


class Lost(Exception):
    """A check that was not passed: what was expected, what was seen, and lines that show it."""

    unbuilt = False

    def __init__(self, expected, seen, evidence=""):
        super().__init__(f"expected {expected}, seen {seen}")
        self.expected, self.seen, self.evidence = str(expected), str(seen)[:SEEN_BYTES], evidence


class Unbuilt(Lost):
    """What was to be run cannot be built; evidence: the compiler's lines."""

    unbuilt = True

    def __init__(self, expected, evidence):
        super().__init__(expected, "the compiler's errors", evidence or "")
