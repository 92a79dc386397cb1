"""Hooks of mkdocs: links out of docs/ lead to pages of the site, below repository/.

Markdown files of the repository are rendered, other files are shown as text, and a folder is
shown as a list of its files. So the site does not depend on another server.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from pymdownx.slugs import slugify

ROOT = Path(__file__).parents[1]
FOLDER = "repository"
LINK = re.compile(r"(\]\()([^)\s#]+)(#[^)\s]*)?(\))")
CODE = re.compile(r"^(`{3,}).*?^\1$|`[^`\n]+`", re.DOTALL | re.MULTILINE)
#: Longer files are truncated, because a page is meant to be read.
MAX_LINES = 1000


def on_config(config: MkDocsConfig) -> None:
    """Give headings the same anchors as GitHub."""
    config.mdx_configs["toc"]["slugify"] = slugify(case="lower")


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Add the files that pages link to, transitively."""
    found = {file.src_uri: file.content_string for file in files.documentation_pages()}
    while found:
        page, text = found.popitem()
        for path in linked(page, text):
            name = name_of(path)
            if path.startswith("docs/") or files.get_file_from_path(name):
                continue
            content = content_of(path)
            files.append(File.generated(config, name, content=content))
            if path.endswith(".md"):
                found[name] = content


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Rewrite links to the places of their files on the site."""
    here = page.file.src_uri

    def moved(link: re.Match) -> str:
        path = path_of(here, link[2])
        if path is None:
            return link[0]
        target = posixpath.relpath(name_of(path), posixpath.dirname(here) or ".")
        return f"{link[1]}{target}{link[3] or ''}{link[4]}"

    return outside_of_code(markdown, moved)


def outside_of_code(markdown: str, change) -> str:
    """Change the links of a page, except those in code."""
    parts, end = [], 0
    for code in CODE.finditer(markdown):
        parts += [LINK.sub(change, markdown[end : code.start()]), code[0]]
        end = code.end()
    return "".join([*parts, LINK.sub(change, markdown[end:])])


def linked(page: str, text: str) -> list[str]:
    """The paths in the repository that a page links to."""
    found: list[str | None] = []

    def note(link: re.Match) -> str:
        found.append(path_of(page, link[2]))
        return link[0]

    outside_of_code(text, note)
    return [path for path in found if path is not None]


def path_of(page: str, link: str) -> str | None:
    """The path in the repository that a link leads to, or None if it leads elsewhere."""
    if "://" in link or link.startswith("mailto:"):
        return None
    prefix = f"{FOLDER}/"
    source = page.removeprefix(prefix) if page.startswith(prefix) else f"docs/{page}"
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source), link))
    if path.startswith("..") or not (ROOT / path).exists():
        return None
    folder_page = f"{path}/README.md"
    return folder_page if (ROOT / folder_page).exists() else path


def name_of(path: str) -> str:
    """The source file name of the page that shows a path of the repository."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return f"{FOLDER}/{path}" if path.endswith(".md") else f"{FOLDER}/{path}.md"


def content_of(path: str) -> str:
    """The Markdown of the page that shows a path of the repository."""
    file = ROOT / path
    if path.endswith(".md"):
        return file.read_text()
    hidden = "---\nsearch:\n  exclude: true\n---\n"
    if file.is_dir():
        names = sorted(one.name + "/" * one.is_dir() for one in file.iterdir())
        lines = [name for name in names if not name.startswith((".", "__"))]
        return f"{hidden}# {path}/\n\nIn this folder of the repository:\n\n{fenced(lines)}"
    lines = file.read_text().splitlines()
    rest = len(lines) - MAX_LINES
    more = f"\n\nThe file has {rest:,} lines more." if rest > 0 else ""
    return f"{hidden}# {path}\n\n{fenced(lines[:MAX_LINES], file.suffix[1:])}{more}"


def fenced(lines: list[str], language: str = "") -> str:
    text = "\n".join(lines)
    fence = "`" * max(3, 1 + max(map(len, re.findall(r"`+", text)), default=0))
    known = {"proto": "protobuf", "rs": "rust", "py": "python", "rb": "ruby", "sh": "bash"}
    return f"{fence}{known.get(language, language or 'text')}\n{text}\n{fence}\n"
