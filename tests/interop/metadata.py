"""What one writer's table metadata must keep of another's."""

# What an append changes; all else is kept.
APPEND_CHANGES = {
    "last-sequence-number",
    "last-updated-ms",
    "current-snapshot-id",
    "next-row-id",
    "refs.main.snapshot-id",
}


def changes(path):
    return path in APPEND_CHANGES or path.startswith("properties.firn.")


# What tells the objects of a list apart; other objects are found whole.
IDENTITIES = ("snapshot-id", "schema-id", "spec-id", "order-id", "field-id", "id")


def identity(value):
    names = IDENTITIES if isinstance(value, dict) else ()
    return next(((name, value[name]) for name in names if name in value), value)


def lost(before, after, path=""):
    """Paths of what stands in the JSON value `before` and not in `after`; lists may have grown, anywhere."""
    says_nothing = before in ([], None) and after is None
    if changes(path) or says_nothing:
        return []
    if isinstance(before, dict) and isinstance(after, dict):
        pairs = [(f"{path}.{key}".lstrip("."), value, after.get(key)) for key, value in before.items()]
    elif isinstance(before, list) and isinstance(after, list):
        pairs = [(f"{path}[{i}]", value, same_in(after, value)) for i, value in enumerate(before)]
    else:
        return [] if before == after else [path]
    return [each for inner, value, other in pairs for each in lost(value, other, inner)]


def same_in(values, wanted):
    """The one that `wanted` became: equal, else of the same identity; None if there is none."""
    if wanted in values:
        return wanted
    return next((value for value in values if identity(value) == identity(wanted)), None)
