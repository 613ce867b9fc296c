"""Strata from Python: asks a running daemon, and gives data frames.

    import strata
    run = strata.connect().trace("unet3d")
    run.summary()
"""
from __future__ import annotations

import html
import json
import os
import pathlib
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Iterator

from . import charts

__all__ = ["Client", "Findings", "StrataError", "Table", "Trace", "connect"]
ADDRESS = "http://127.0.0.1:7878"
TOKEN_FILE = pathlib.Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config").expanduser() / "strata/token"
ENDED = ("done", "failed", "cancelled")


class StrataError(Exception):
    """What the daemon refused, in its words; `status` is that of HTTP, 0 where no daemon answers, `problem` the whole problem document."""

    def __init__(self, status: int, problem: dict[str, Any]):
        self.status, self.problem = status, problem
        place = f" (at {problem['parameter']})" if problem.get("parameter") else ""
        super().__init__(f"{problem.get('detail') or problem.get('title') or 'no answer'}{place}")


def connect(url: str | None = None, token: str | None = None, frames: str | None = None, timeout: float = 150) -> Client:
    """A client of the daemon at `url` (default: STRATA_URL, else 127.0.0.1:7878) with `token` (default: STRATA_TOKEN, else the file strata/token of
    the user's configuration, else none). `frames`: "pandas", "polars" or "plain", by default the first of these that is installed; or "arrow", for
    tables of pyarrow, which are the fastest for millions of rows."""
    if token is None:
        token = os.environ.get("STRATA_TOKEN") or (TOKEN_FILE.read_text().strip() if TOKEN_FILE.is_file() else None)
    client = Client(url or os.environ.get("STRATA_URL") or ADDRESS, token, frames or installed(), timeout)
    client.version()  # says at once whether somebody answers
    return client


class Client:
    def __init__(self, url: str, token: str | None, frames: str, timeout: float):
        if frames not in ("pandas", "polars", "plain", "arrow"):
            raise ValueError(f'frames is "pandas", "polars", "plain" or "arrow", not {frames!r}')
        self.url, self.frames, self.timeout = url.rstrip("/"), frames, timeout
        self._headers = {"Accept": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}

    def __repr__(self) -> str:
        return f"<Strata at {self.url}>"

    # ---- calls

    def request(self, method: str, call: str, body: Any = None, **parameters: Any) -> bytes:
        """Any call below /api/v1, such as "traces/ID/summary"; a parameter that is a list is sent once for each item, one that is None is not."""
        query = urllib.parse.urlencode([(name, item) for name, value in parameters.items() for item in items(value)])
        headers, data = dict(self._headers), None
        if body is not None:
            headers["Content-Type"], data = "application/json", json.dumps(body).encode()
        asked = urllib.request.Request(f"{self.url}/api/v1/{call}{'?' + query if query else ''}", data, headers, method=method)
        try:
            with urllib.request.urlopen(asked, timeout=self.timeout) as answer:
                content: bytes = answer.read()
                return content
        except urllib.error.HTTPError as error:
            raise StrataError(error.code, problem_of(error)) from None
        except OSError as error:
            raise StrataError(0, {"detail": f"no daemon answers at {self.url}: {getattr(error, 'reason', error)}"}) from None

    def get(self, call: str, **parameters: Any) -> Any:
        return json.loads(self.request("GET", call, **parameters))

    def post(self, call: str, body: Any, **parameters: Any) -> Any:
        return json.loads(self.request("POST", call, body, **parameters))

    def table(self, call: str, body: Any = None, **parameters: Any) -> Any:
        """A data frame of any call that gives a table: all of its pages, unless `limit` is given."""
        method, parameters = ("GET" if body is None else "POST"), windowed(parameters)
        if self.frames == "arrow":
            import pyarrow.ipc

            return pyarrow.ipc.open_stream(self.request(method, call, body, **parameters, format="arrow")).read_all()
        whole = json.loads(self.request(method, call, body, **parameters))
        if "columns" not in whole and holder(whole) is None:  # objects within objects: its rows are in the other forms
            rows = [json.loads(line) for line in self.request(method, call, body, **parameters, format="ndjson").splitlines()]
            columns = list(rows[0]) if rows else []
            return frame(self.frames, columns, [[row.get(name) for name in columns] for row in rows], whole)
        answer, columns, rows, following = opened(whole)
        while following and parameters.get("limit") is None and (body or {}).get("limit") is None:
            _, _, page, following = opened(json.loads(self.request(method, call, body, **{**parameters, "cursor": following})))
            rows += page
        return frame(self.frames, columns, rows, answer)

    # ---- traces

    def version(self) -> Any:
        return self.get("version")

    def traces(self) -> list[Trace]:
        return [Trace(self, record) for record in self.get("traces")["traces"]]

    def trace(self, name: str) -> Trace:
        """The trace of this id, or of this name; of several with one name, or none, it says which there are."""
        traces = self.traces()
        found = [t for t in traces if t.id == name] or [t for t in traces if t.name == name]
        if len(found) != 1:
            known = ", ".join(f"{t.name} ({t.id})" for t in found or traces) or "none"
            raise StrataError(404, {"detail": f"{len(found) or 'no'} traces are called {name!r}; there are {known}"})
        return found[0]

    def add(self, path: str | os.PathLike[str], wait: bool = True, progress: bool = True, **options: Any) -> Trace:
        """Registers a folder, which lies below one of the daemon's roots, and waits for its ingest; `options`: name."""
        answer = self.post("traces", {"path": str(pathlib.Path(path).expanduser().absolute()), **options})
        return self._ingested(answer, wait, progress)

    def _ingested(self, answer: dict[str, Any], wait: bool, progress: bool) -> Trace:
        record = answer.get("trace", answer)
        if wait and answer.get("job"):
            self._wait(answer["job"], progress)
        return Trace(self, self.get(f"traces/{record['id'] if isinstance(record, dict) else record}"))

    def _wait(self, job: str | dict[str, Any], progress: bool) -> None:
        job = job["id"] if isinstance(job, dict) else job
        with bar(progress) as show:
            while (record := self.get(f"jobs/{job}"))["state"] not in ENDED:
                show(record["progress"])
                time.sleep(0.1)
            show(1)
        if record["state"] != "done":
            raise StrataError(409, {"detail": record["error"] or f"the job was {record['state']}"})

    # ---- questions to several traces

    def query(self, traces: dict[str, str | Trace], **question: Any) -> Any:
        """One question to several traces; `traces` names them: {"before": run, "now": other}. Column `trace` has that name."""
        named = {label: self._id(trace) for label, trace in traces.items()}
        return self.table("query", {"traces": named, **worded(question)})

    def compare(self, *traces: str | Trace, **parameters: Any) -> Any:
        """Two runs and more, layer by layer (or `view`="flat" or "layer"), against the first."""
        return self.table("compare", traces=",".join(map(self._id, traces)), **parameters)

    def _id(self, trace: str | Trace) -> str:
        return trace.id if isinstance(trace, Trace) else self.trace(trace).id


class Trace:
    """A trace of the daemon; `record` is what the daemon says of it. Its methods are the calls of the API, with their parameters as keywords."""

    def __init__(self, client: Client, record: dict[str, Any]):
        self.client, self.record = client, record
        self.id: str = record["id"]
        self.name: str = record["name"]

    def __repr__(self) -> str:
        return f"<Trace {self.name} ({self.id}): {self.record['state']}, {self.record.get('events') or 0:,} events>"

    def table(self, call: str, body: Any = None, **parameters: Any) -> Any:
        return self.client.table(f"traces/{self.id}/{call}", body, **parameters)

    def get(self, call: str, **parameters: Any) -> Any:
        return self.client.get(f"traces/{self.id}/{call}", **windowed(parameters))

    def summary(self, **parameters: Any) -> Any:
        return self.table("summary", **parameters)

    def view(self, name: str = "flat", **parameters: Any) -> Any:
        """`name`: main, layer (with `layer`) or flat; `by`: process, thread, host, file, second ..; see the API."""
        return self.table(f"views/{name}", **parameters)

    def timeseries(self, **parameters: Any) -> Any:
        return self.table("timeseries", **parameters)

    def events(self, **parameters: Any) -> Any:
        return self.table("events", **parameters)

    def columns(self, **parameters: Any) -> Any:
        return self.table("columns", **parameters)

    def query(self, **question: Any) -> Any:
        """The members of a question as keywords: filter, derive, group_by, aggregate, order_by, limit, then .."""
        return self.table("query", worded(question))

    def overlap(self, **parameters: Any) -> Any:
        return self.table("overlap", **parameters)

    def gaps(self, **parameters: Any) -> Any:
        return self.table("gaps", **parameters)

    def calltree(self, **parameters: Any) -> Any:
        return self.table("calltree", **parameters)

    def findings(self, **parameters: Any) -> Findings:
        return Findings(self, self.get("findings", **parameters))

    def report(self) -> Any:
        """The ledger: what became of every line."""
        return self.get("report")

    def save_report(self, path: str | os.PathLike[str], **parameters: Any) -> None:
        """Verdict, findings and tables as one HTML file."""
        pathlib.Path(path).write_bytes(self.client.request("GET", f"traces/{self.id}/report.html", **windowed(parameters)))

    def refresh(self, wait: bool = True, progress: bool = True) -> Trace:
        """Reads what changed in its files."""
        answer = json.loads(self.client.request("POST", f"traces/{self.id}/refresh"))
        return self.client._ingested({"trace": self.id, **answer}, wait, progress)

    def update(self, **members: Any) -> Trace:
        """Changes what the daemon says of it: name, tags, preset."""
        return Trace(self.client, json.loads(self.client.request("PATCH", f"traces/{self.id}", members)))

    def delete(self) -> None:
        """Forgets it; its files stay."""
        self.client.request("DELETE", f"traces/{self.id}")

    def _repr_html_(self) -> str:
        try:
            answer = self.get("summary")
        except StrataError as error:
            return f"<p>{html.escape(repr(self))}: {html.escape(str(error))}</p>"
        layers = self._layers(answer["preset"])
        rows = [(label, layer["busy"] or 0, color) for layer in answer["layers"] for label, color in [layers[layer["name"]]]]
        job = answer["job_time"] or 0
        head = f"<b>{html.escape(self.name)}</b>: {answer['events']:,} events, {answer['processes']:,} processes, {job:.3f} s; time in which each layer was busy"
        return charts.bars(head, rows, job)

    def chart(self, metric: str = "busy", **parameters: Any) -> charts.Chart:
        """When each layer ran, as a picture: `metric` (busy, time, size, count ..) by bins of `granularity` seconds, by default a hundredth of the run."""
        if "granularity" not in parameters:
            parameters["granularity"] = max((self.get("summary")["job_time"] or 1) / 100, 1e-3)
        answer = self.get("timeseries", metrics=metric, **parameters)
        at, bin, data = answer["columns"].index("time_start"), answer["granularity"], answer["data"]
        rows = []
        for name, (label, color) in self._layers(answer["preset"]).items():
            if (column := f"{name}_{metric}") in answer["columns"]:
                values = answer["columns"].index(column)
                rows.append((label, color, [(row[at], row[values]) for row in data if row[values] is not None]))
        start, end = parameters.get("window") or (0, answer["job_time"] or bin)
        return charts.areas(f"<b>{html.escape(self.name)}</b>: {html.escape(metric)} by bins of {bin:.3g} s", start or 0, end or answer["job_time"] or bin, bin, rows)

    def _layers(self, preset: str) -> dict[str, tuple[str, str]]:
        """(label, colour) by name"""
        return {layer["name"]: (layer["label"] or layer["name"], layer["color"] or charts.GREY) for layer in self.client.get(f"presets/{preset}")["layers"]}


class Findings:
    """Why a run is slow: what is critical, a warning or worth to know, each with its sentence (`text`), figures and `advice`. `checked` are all rules, those
    in order or not applicable too; `counts` says how many are which."""

    def __init__(self, trace: Trace, answer: dict[str, Any]):
        self.trace, self.answer = trace, answer
        self.checked: list[dict[str, Any]] = answer["findings"]
        self.items = [item for item in self.checked if item["severity"] not in ("ok", "na")]
        self.counts: dict[str, int] = answer["counts"]

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.items)

    def frame(self) -> Any:
        names = ("rule", "severity", "title", "text", "stake", "advice")
        rows = [[" ".join(item[name]) if isinstance(item.get(name), list) else item.get(name) for name in names] for item in self.items]
        return frame(self.trace.client.frames, list(names), rows, {"units": {"stake": "s"}})

    def __repr__(self) -> str:
        return "\n".join(f"{item['severity']}: {item['text']}" for item in self.items) or f"nothing found in {len(self.checked)} checks"

    def _repr_markdown_(self) -> str:
        return "\n".join(f"- **{item['severity']}** {item['text']}" for item in self.items) or f"Nothing found in {len(self.checked)} checks."


class Table(list[dict[str, Any]]):
    """Rows as dicts, where neither pandas nor polars is installed; `columns` and `attrs` as of a data frame."""

    def __init__(self, columns: list[str], rows: list[list[Any]], attrs: dict[str, Any]):
        super().__init__(dict(zip(columns, row)) for row in rows)
        self.columns, self.attrs = columns, attrs


# ---- frames

def holder(answer: dict[str, Any]) -> str | None:
    """the name of the member that holds the rows, where the answer itself does not"""
    return next((name for name, value in answer.items() if isinstance(value, dict) and "data" in value), None)


def opened(answer: dict[str, Any]) -> tuple[dict[str, Any], list[str], list[list[Any]], str | None]:
    """(other members, columns, rows, cursor of the next page): of a table, of a summary, whose rows are objects, and of overlap, whose table is by scope"""
    if "layers" in answer:
        columns = answer.pop("columns")
        return answer, columns, [[layer.get(name) for name in columns] for layer in answer.pop("layers")], None
    name = None if "data" in answer else holder(answer)
    table = answer if name is None else answer.pop(name)
    columns, rows, following = table.pop("columns"), table.pop("data"), table.pop("next", None)
    return {"units": table.get("units", {}), **answer}, columns, rows, following


def installed() -> str:
    for name in ("pandas", "polars"):
        try:
            __import__(name)
            return name
        except ImportError:
            continue
    return "plain"


def frame(kind: str, columns: list[str], rows: list[list[Any]], attrs: dict[str, Any]) -> Any:
    if kind == "plain":
        return Table(columns, rows, attrs)
    series = {name: [row[i] for row in rows] for i, name in enumerate(columns)}
    if kind == "arrow":
        import pyarrow.ipc

        return pyarrow.table(series)
    if kind == "polars":
        import polars

        return polars.DataFrame(series, strict=False, infer_schema_length=None)
    import pandas

    made = pandas.DataFrame({name: pandas.Series(values, dtype=dtype(values)) for name, values in series.items()})
    made.attrs = attrs
    return made


def dtype(values: list[Any]) -> str:
    """of pandas: whole numbers stay such where some are missing"""
    kinds = {type(v) for v in values if v is not None}
    if kinds == {int}:
        return "int64" if None not in values else "Int64"
    return "float64" if kinds and kinds <= {int, float} else "bool" if kinds == {bool} and None not in values else "object"


# ---- parameters

def items(value: Any) -> list[Any]:
    if value is None:
        return []
    if isinstance(value, (list, tuple, set)):
        return [item for one in value for item in items(one)]
    return [str(value).lower() if isinstance(value, bool) else value]


def windowed(parameters: dict[str, Any]) -> dict[str, Any]:
    """`window`=(from, to) as the two parameters: `from` is a word of Python"""
    start, end = parameters.pop("window", None) or (None, None)
    return {**parameters, **({"from": start} if start is not None else {}), **({"to": end} if end is not None else {})}


def worded(question: dict[str, Any]) -> dict[str, Any]:
    """a question as the API wants it: lists where one text will do"""
    lists = ("group_by", "order_by", "columns")
    return {name: [value] if name in lists and isinstance(value, str) else value for name, value in windowed(question).items()}


def problem_of(error: urllib.error.HTTPError) -> dict[str, Any]:
    text = error.read().decode(errors="replace")
    try:
        problem = json.loads(text)
        return problem if isinstance(problem, dict) else {"detail": text}
    except ValueError:
        return {"detail": text[:1000] or str(error)}


class bar:
    """a progress bar where tqdm is installed"""

    def __init__(self, wanted: bool):
        try:
            from tqdm.auto import tqdm

            self.shown = tqdm(total=100, unit="%", desc="ingest", disable=not wanted)
        except ImportError:
            self.shown = None

    def __enter__(self) -> Any:
        return self.show

    def show(self, progress: float | None) -> None:
        if self.shown is not None:
            self.shown.n = round(100 * (progress or 0))
            self.shown.refresh()

    def __exit__(self, *_: Any) -> None:
        if self.shown is not None:
            self.shown.close()
