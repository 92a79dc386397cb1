"""The metrics that a server exposes, read by an independent parser, and those in expressions."""

from __future__ import annotations

import re

from prometheus_client.openmetrics.parser import text_string_to_metric_families

#: Labels that the scrape configuration of operations.md adds to every series.
OF_THE_SCRAPE = {"job", "instance", "namespace", "pod"}
#: Series that Prometheus itself records for a target.
OF_PROMETHEUS: dict[str, dict[str, set[str]]] = {"up": {}}
#: Only where the control group of the server has a limit of memory.
WHERE_THERE_IS_ONE: dict[str, dict[str, set[str]]] = {"offbeat_memory_limit_bytes": {}}
#: Labels whose values are all exposed from the start, or once the tests have used them.
COMPLETE = {"reason", "state", "method", "result", "what", "limit"}
#: The words of an expression that name neither a metric nor a function.
WORDS = {"and", "or", "unless", "offset", "bool"}
GROUPING = re.compile(r"\b(?:by|on|without|ignoring|group_left|group_right)\s*\(([^)]*)\)")


class Exposed:
    """Samples by their names, and metrics as a table of them shows them."""

    def __init__(self, text: str) -> None:
        #: The labels of each sample, with their values.
        self.samples: dict[str, dict[str, set[str]]] = {}
        #: The type and the labels of each metric.
        self.metrics: dict[str, tuple[str, set[str]]] = {}
        for family in text_string_to_metric_families(text):
            suffix = {"counter": "_total", "info": "_info"}.get(family.type, "")
            labels: set[str] = set()
            for sample in family.samples:
                values = self.samples.setdefault(sample.name, {})
                for label, value in sample.labels.items():
                    values.setdefault(label, set()).add(value)
                labels |= set(sample.labels) - {"le"}
            if family.samples:
                self.metrics[family.name + suffix] = (family.type, labels)

    def wrongs(self, expression: str) -> list[str]:
        """The metrics, labels and values of an expression that are not exposed."""
        known = {**self.samples, **OF_PROMETHEUS, **WHERE_THERE_IS_ONE}
        named = names(expression)
        found = [f"no metric {name}" for name in named if name not in known]
        for name, label, sign, value in matchers(expression):
            values = known.get(name, {})
            if label not in {*values, *OF_THE_SCRAPE}:
                found.append(f"{name} has no label {label}")
            elif sign == "=" and label in COMPLETE and value not in values[label]:
                found.append(f"{name} has no {label} {value}")
        labels = self.labels(expression) | OF_THE_SCRAPE | {"le"}
        found += [f"no label {label}" for label in grouped(expression) if label not in labels]
        return found if named else ["no metric"]

    def labels(self, expression: str) -> set[str]:
        """The labels that the result may have, besides those of the scrape."""
        known = {**self.samples, **OF_PROMETHEUS}
        return {label for name in names(expression) for label in known.get(name, {})} - {"le"}


def names(expression: str) -> set[str]:
    """The metrics of an expression."""
    bare = GROUPING.sub(" ", re.sub(r'"[^"]*"', "", expression))
    bare = re.sub(r"\{[^}]*\}|\[[^\]]*\]", " ", bare)
    return set(re.findall(r"(?<![\w.$])[a-zA-Z_]\w*\b(?!\s*\()", bare)) - WORDS


def matchers(expression: str) -> list[tuple[str, str, str, str]]:
    """Metric, label, sign and value of each condition."""
    return [
        (name, label, sign, value)
        for name, inner in re.findall(r"([a-z_]\w*)\{([^}]*)\}", expression)
        for label, sign, value in re.findall(r'(\w+)\s*(=~|!=|!~|=)\s*"([^"]*)"', inner)
    ]


def grouped(expression: str) -> list[str]:
    """The labels by which an expression groups or joins."""
    return [label for inner in GROUPING.findall(expression) for label in re.findall(r"\w+", inner)]
