#!/usr/bin/env python3
"""A page of `ptera profile --html` is whole: page.py PAGE BYTES TEXT...

It is well formed, has each TEXT, no more than BYTES, and needs no other file; links, labels and
what they name are there; tables have heads, and pictures names."""

import re
import sys
from xml.etree import ElementTree


def find_faults(page, limit, texts):
    size = len(page.encode())
    if size > limit:
        yield f"{size} bytes"
    if re.search(r"\bsrc=|url\(|@import|<link|fetch\(|XMLHttp", page):
        yield "it needs another file"
    if "prefers-color-scheme: dark" not in page:
        yield "it is never dark"
    without_script = re.sub(r"<script>.*?</script>", "", page, flags=re.S)
    root = ElementTree.fromstring(without_script.replace("<!DOCTYPE html>", ""))
    words = "".join(root.itertext())
    yield from (f"no text '{text}'" for text in texts if text not in words)
    ids = [e.get("id") for e in root.iter() if e.get("id")]
    if len(ids) != len(set(ids)):
        yield "an id is there twice"
    for e in root.iter():
        yield from find_element_faults(e, set(ids))


def find_element_faults(e, ids):
    for name in ("href", "for", "aria-controls", "aria-labelledby"):
        target = e.get(name)
        if target is None:
            continue
        if name == "href" and not target.startswith("#"):
            yield f"a link to {target}"
        if target.lstrip("#") not in ids:
            yield f"{name}: there is no {target}"
    if e.tag == "svg" and not (e.get("role") == "img" and e.get("aria-label")):
        yield "a picture without a name"
    if e.tag == "svg" and any(x.tag == "a" for x in e.iter()):
        yield "a link inside a picture, which readers of screens drop"
    if e.tag == "th" and not e.get("scope"):
        yield "a head of a table without its scope"
    if e.tag == "table" and e.find("thead") is None:
        yield "a table without heads"
    if e.get("class") == "wide" and not (e.get("tabindex") and e.get("aria-label")):
        yield "what scrolls cannot be reached by keys"
    if e.tag == "html" and not e.get("lang"):
        yield "no language"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        page = file.read()
    faults = list(find_faults(page, int(sys.argv[2]), sys.argv[3:]))
    print("\n".join(faults))
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
