"""Settings of a query at random, within what each accepts."""

import random
from dataclasses import replace
from typing import Any, get_args

from ragx.config import Config
from ragx.config.settings import SETTINGS, Setting

QUERY_SETTINGS = [
    row for row in SETTINGS.values()
    if row.rule.effect == "query"
    and (row.section in ("keyword", "graph", "traversal", "fusion", "scoring", "rerank") or row.name == "query.second")
]  # fmt: skip


def random_value(row: Setting, rng: random.Random) -> Any:
    if row.rule.choices:
        return rng.choice(row.rule.choices)
    kinds = get_args(row.type) or (row.type,)
    if type(None) in kinds and rng.random() < 0.4:
        return None
    if bool in kinds:
        return rng.random() < 0.5
    low, high = row.rule.low, row.rule.high
    assert low is not None and high is not None
    return rng.randint(int(low), min(int(high), 12)) if int in kinds else rng.uniform(low, high)


def random_config(base: Config, rng: random.Random) -> Config:
    config = base
    for row in rng.sample(QUERY_SETTINGS, rng.randint(0, 6)):
        if row.name != "rerank.model":
            section = replace(getattr(config, row.section), **{row.key: random_value(row, rng)})
            config = replace(config, **{row.section: section})
    return config
