#!/usr/bin/env python3
"""Writes docs/reference, or the folder given as argument, from the comments of the protos.

Reads the descriptors that `buf build` makes, which hold each comment by the path of the element
that it describes (FileDescriptorProto.source_code_info).
"""

import shutil
import subprocess
import sys
from pathlib import Path

from google.protobuf import descriptor_pb2 as pb

ROOT = Path(__file__).resolve().parent.parent
BUF = ROOT / "target/tools/node_modules/.bin/buf"
OUT = ROOT / "docs/reference"

#: The subject of each file, in the order of the index.
FILES = {
    "v1/slots.proto": "slots and runs of IDs",
    "v1/schedule.proto": "schedules",
    "v1/id.proto": "IDs",
    "v1/due_runs.proto": "runs that are due, and missed ones",
    "v1/reciprocal.proto": "kinds that must not meet",
    "v1/migration.proto": "from one schedule to another",
    "v1/audit.proto": "how evenly IDs fill slots",
    "v1/sql.proto": "predicates for databases",
    "v1/spread.proto": "groups spread over one stream",
    "v1/named_spread.proto": "spreads with producers and consumers",
    "v1/lanes.proto": "express and slow lanes",
    "v1/stages.proto": "workers over the stages of a pipeline",
    "v1/server_info.proto": "what the server is",
    "v1/error_reason.proto": "why a call is refused",
    "v1beta1/lane_planning.proto": "plans of lanes (beta)",
    "v1beta1/simulation.proto": "simulations (beta)",
    "v1beta1/lateness.proto": "how late runs start (beta)",
}

SCALARS = {
    number: name.removeprefix("TYPE_").lower()
    for name, number in pb.FieldDescriptorProto.Type.items()
}
WELL_KNOWN = "https://protobuf.dev/reference/protobuf/google.protobuf/#"


def page_of(file: str) -> str:
    """The name of a file's page: v1-slots.md for offbeat/v1/slots.proto."""
    return file.removeprefix("offbeat/").replace("/", "-").removesuffix(".proto") + ".md"


class Page:
    """The page of one file."""

    def __init__(self, file: pb.FileDescriptorProto, homes: dict[str, str]) -> None:
        self.file = file
        self.homes = homes
        info = file.source_code_info.location
        self.places = {tuple(place.path): place for place in info}

    def comment(self, *path: int) -> str:
        """The leading comment of the element at a path, as Markdown."""
        place = self.places.get(path)
        return prose(place.leading_comments) if place else ""

    def head(self) -> str:
        """The detached comments before the first declaration."""
        first = min(
            (path for path in self.places if path and path[0] in (4, 5, 6) and len(path) == 2),
            key=lambda path: self.places[path].span[0],
        )
        place = self.places[first]
        return "\n\n".join(prose(text) for text in place.leading_detached_comments)

    def type_of(self, field: pb.FieldDescriptorProto) -> str:
        """A field's type, with a link to it."""
        if field.type not in (field.TYPE_MESSAGE, field.TYPE_ENUM):
            name = SCALARS[field.type]
        else:
            name = self.link(field.type_name)
        if field.label == field.LABEL_REPEATED:
            return f"repeated {name}"
        return f"optional {name}" if field.proto3_optional else name

    def link(self, full_name: str) -> str:
        """A message or an enum by its short name, with a link."""
        short = full_name.rsplit(".", 1)[1]
        if full_name.startswith(".google.protobuf."):
            anchor = "field-mask" if short == "FieldMask" else short.lower()
            return f"[{short}]({WELL_KNOWN}{anchor})"
        home = self.homes[full_name]
        page = "" if home == self.file.name else page_of(home)
        return f"[{short}]({page}#{short.lower()})"

    def write(self) -> str:
        """The page as Markdown."""
        name = self.file.name.removeprefix("offbeat/")
        blocks = [
            f"# {name}: {FILES[name]}",
            GENERATED.format(source=f"../../proto/offbeat/{name}"),
        ]
        blocks += [text for text in [self.head()] if text]
        blocks.append(f"Package `{self.file.package}`.")
        for number, service in enumerate(self.file.service):
            blocks += self.service(service, 6, number)
        for number, message in enumerate(self.file.message_type):
            blocks += self.message(message, 4, number)
        for number, enum in enumerate(self.file.enum_type):
            blocks += self.enum(enum, 5, number)
        return "\n\n".join(blocks) + "\n"

    def service(self, service: pb.ServiceDescriptorProto, *path: int) -> list[str]:
        blocks = [f"## {service.name}", self.comment(*path)]
        for number, method in enumerate(service.method):
            asked, answered = self.link(method.input_type), self.link(method.output_type)
            asked = f"stream of {asked}" if method.client_streaming else asked
            answered = f"stream of {answered}" if method.server_streaming else answered
            route = f"`/{self.file.package}.{service.name}/{method.name}`"
            blocks += [
                f"### {method.name}",
                f"{route}: {asked} → {answered}",
                self.comment(*path, 2, number),
            ]
        return blocks

    def message(self, message: pb.DescriptorProto, *path: int) -> list[str]:
        blocks = [f"### {message.name}", self.comment(*path)]
        rows = []
        for number, field in enumerate(message.field):
            text = cell(self.comment(*path, 2, number))
            if field.HasField("oneof_index") and not field.proto3_optional:
                text = f"*One of `{message.oneof_decl[field.oneof_index].name}`.* {text}"
            rows.append(f"| `{field.name}` | {self.type_of(field)} | {field.number} | {text} |")
        if rows:
            blocks.append("\n".join(["| field | type | number | |", "|---|---|---|---|", *rows]))
        for number, oneof in enumerate(message.oneof_decl):
            text = self.comment(*path, 8, number)
            if text:
                blocks.append(f"`{oneof.name}`: {text}")
        return blocks

    def enum(self, enum: pb.EnumDescriptorProto, *path: int) -> list[str]:
        rows = [
            f"| `{value.name}` | {value.number} | {cell(self.comment(*path, 2, number))} |"
            for number, value in enumerate(enum.value)
        ]
        table = "\n".join(["| value | number | |", "|---|---|---|", *rows])
        return [f"### {enum.name}", self.comment(*path), table]


GENERATED = "<!-- Generated by proto/reference.py from [the protos]({source}): do not edit. -->"


def prose(comment: str) -> str:
    """A comment as Markdown: indented lines, as those of a glossary, keep their form."""
    blocks: list[str] = []
    for block in "\n".join(line.removeprefix(" ") for line in comment.splitlines()).split("\n\n"):
        lines = block.strip("\n").splitlines()
        indented = [line for line in lines if line.startswith("  ")]
        if indented:
            plain = [line for line in lines if line not in indented]
            blocks += ["\n".join(plain)] if plain else []
            blocks.append("\n".join(["```text", *indented, "```"]))
        elif lines:
            blocks.append(escaped("\n".join(lines)))
    return "\n\n".join(blocks)


def escaped(text: str) -> str:
    """Escapes characters that are special in Markdown."""
    for sign in "*<>[]":
        text = text.replace(sign, "\\" + sign)
    return text


def cell(text: str) -> str:
    """A text as a cell of a table, on one line."""
    return text.replace("|", "\\|").replace("\n\n", "<br>").replace("\n", " ")


def main() -> None:
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else OUT
    built = subprocess.run(
        [BUF, "build", ROOT / "proto", "--output", "-"], check=True, capture_output=True
    )
    files = pb.FileDescriptorSet.FromString(built.stdout).file
    ours = {file.name: file for file in files if file.name.startswith("offbeat/")}
    homes = {
        f".{file.package}.{declared.name}": name
        for name, file in ours.items()
        for declared in [*file.message_type, *file.enum_type]
    }
    listed = {f"offbeat/{name}" for name in FILES}
    assert listed == set(ours), f"FILES and the protos differ: {listed ^ set(ours)}"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    index = ["# API reference", GENERATED.format(source="../../proto/offbeat"), INTRODUCTION]
    rows = ["| file | about | services |", "|---|---|---|"]
    for name, about in FILES.items():
        file = ours[f"offbeat/{name}"]
        page = page_of(file.name)
        services = ", ".join(f"[{one.name}]({page}#{one.name.lower()})" for one in file.service)
        rows.append(f"| [{name}]({page}) | {about} | {services} |")
        (out / page).write_text(Page(file, homes).write())
    (out / "README.md").write_text("\n\n".join([*index, "\n".join(rows)]) + "\n")


INTRODUCTION = """\
Every service, message and field of the contract. By gRPC, call the methods by their paths. By HTTP,
POST a request as canonical proto JSON (`application/json`, names in camel or snake case) to the
same path:

```sh
curl -sS http://127.0.0.1:2328/offbeat.v1.SlotService/AssignSlot \\
    -H 'content-type: application/json' \\
    -d '{"schedule": {"spec": {"period": "28800s"}}, "id": {"text": "acme"}}'
```

`offbeat.v1` changes in no way that breaks callers once version 1 is out; `offbeat.v1beta1` may. A
refused call says why: see [error_reason.proto](v1-error_reason.md)."""


if __name__ == "__main__":
    main()
