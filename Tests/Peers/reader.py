"""Reads what a client encoded, as servers in other languages do, and answers what it saw as JSON."""

import gzip
import hashlib
import json
import re
import zlib
from urllib.parse import parse_qsl


def app(environ, start_response):
    """A WSGI application: every path and method is answered alike."""
    wire = environ["wsgi.input"].read()
    coding = environ.get("HTTP_CONTENT_ENCODING", "")
    body = decoded(wire, coding)
    media_type = environ.get("CONTENT_TYPE", "")
    pairs, files = [], []
    if media_type.startswith("application/x-www-form-urlencoded"):
        pairs = form_pairs(body.decode())
    elif media_type.startswith("multipart/form-data"):
        pairs, files = parts(body, re.search('boundary="?([^";]+)', media_type)[1])
    query = form_pairs(environ.get("QUERY_STRING", ""))
    answer = {
        "coding": coding,
        "framing": "chunked" if "HTTP_TRANSFER_ENCODING" in environ else "length",
        "wireLength": len(wire),
        "length": len(body),
        "digest": hashlib.sha256(body).hexdigest(),
        "query": {"php": php(query), "rails": rails(query)},
        "form": {"php": php(pairs), "rails": rails(pairs)},
        "files": files,
        "json": json.loads(body) if media_type.startswith("application/json") and body else None,
    }
    start_response("200 OK", [("Content-Type", "application/json")])
    return [json.dumps(answer).encode()]


def decoded(body, coding):
    """The body without its coding; what is no whole coded body raises."""
    if coding == "gzip":
        return gzip.decompress(body)
    if coding == "deflate":
        return zlib.decompress(body)
    return body


def form_pairs(text):
    """The names and values of a form, or of a query."""
    return parse_qsl(text, keep_blank_values=True)


def parts(body, boundary):
    """The fields of a multipart form, and its files with the digests of their content."""
    pairs, files = [], []
    delimiter = b"\r\n--" + boundary.encode()
    pieces = (b"\r\n" + body).split(delimiter)
    if pieces[0] or pieces[-1].strip() != b"--":
        raise ValueError("not a whole multipart body")
    for piece in pieces[1:-1]:
        head, _, content = piece.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        name = re.search(' name="([^"]*)"', fields["Content-Disposition"])[1]
        file_name = re.search('filename="([^"]*)"', fields["Content-Disposition"])
        if file_name is None:
            pairs.append((name, content.decode()))
            continue
        files.append(
            {
                "name": name,
                "fileName": file_name[1],
                "type": fields.get("Content-Type", ""),
                "length": len(content),
                "digest": hashlib.sha256(content).hexdigest(),
            }
        )
    return pairs, files


def php(pairs):
    """What PHP's $_GET and $_POST hold: every array is a map, and a[] takes the next free number as its key."""
    root = {}
    for name, value in pairs:
        first = name.split("[", 1)[0]
        keys = [first] + re.findall(r"\[([^\]]*)\]", name[len(first) :])
        place = root
        for key in keys[:-1]:
            key = key or next_number(place)
            if not isinstance(place.get(key), dict):
                place[key] = {}
            place = place[key]
        place[keys[-1] or next_number(place)] = value
    return listed(root)


def next_number(place):
    return str(1 + max((int(key) for key in place if key.isdigit()), default=-1))


def listed(value):
    """Maps whose keys are 0, 1, 2… in this order are lists, as json_encode writes them."""
    if not isinstance(value, dict):
        return value
    values = [listed(item) for item in value.values()]
    if value and list(value) == [str(number) for number in range(len(value))]:
        return values
    return dict(zip(value, values))


def rails(pairs):
    """What Rack's parameters hold: a[] is a list, and a[][b] opens a new element when the last one has a b."""
    root = {}
    for name, value in pairs:
        normalize(root, name, value)
    return root


def normalize(place, name, value):
    match = re.match(r"[\[\]]*([^\[\]]+)\]*", name)
    key, rest = match[1], name[match.end() :]
    if not rest:
        place[key] = value
    elif rest == "[]":
        place.setdefault(key, []).append(value)
    elif rest.startswith("[]"):
        elements = place.setdefault(key, [])
        child = re.fullmatch(r"\[\]\[([^\[\]]+)\]", rest)
        inner = child[1] if child else rest[2:]
        if not elements or has(elements[-1], inner):
            elements.append({})
        normalize(elements[-1], inner, value)
    else:
        normalize(place.setdefault(key, {}), rest, value)


def has(place, name):
    """Whether a name leads to something in an element already; a list there takes one more."""
    keys = [key for key in re.split(r"[\[\]]+", name) if key]
    if name.endswith("[]"):
        return False
    for key in keys:
        if not isinstance(place, dict) or key not in place:
            return False
        place = place[key]
    return True
