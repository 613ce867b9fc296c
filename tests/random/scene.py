"""Traces as the oracles have them and as a daemon has them; what both say to a request."""
import http.client
import json
import answers
import forms


class Scene:
    """the traces, as the oracle has them and as the daemon has them"""

    def __init__(self, daemon, oracles, paths):
        """@oracles: modules query_oracle, overlap_oracle, trace_events; @paths: {name: folder}"""
        self.daemon, (self.oracle, self.overlap_oracle, events) = daemon, oracles
        self.traces, self.ids = {}, {}
        for name, path in paths.items():
            trace, job = daemon.register(path, name=name)
            daemon.wait(job)
            self.ids[name] = trace["id"]
            self.traces[name] = events.load(str(path), name)
        keys = {k for t in self.traces.values() for k in t.types}
        for name, trace in self.traces.items():  # what the oracles take for granted
            for event in trace.events:
                event["trace"] = name
                for key in keys - event.keys():
                    event[key] = None

    def expected(self, request, name):
        """the oracle's answer or problem document; None where it gives up"""
        try:
            return self.oracle.ask(request, self.traces if name is None else {name: self.traces[name]})
        except self.oracle.Problem as problem:
            return problem.document
        except Exception:  # mathematics that it does not foresee
            return None

    def located(self, request, name, call="query"):
        """(path, request with the daemon's names of traces)"""
        if name is not None:
            return f"/api/v1/traces/{self.ids[name]}/{call}", request
        chosen = request.get("traces")
        if isinstance(chosen, dict):
            chosen = {label: self.ids.get(n, n) for label, n in chosen.items()}
        elif isinstance(chosen, list):
            chosen = [self.ids.get(n, n) for n in chosen]
        return "/api/v1/query", {**request, "traces": chosen}

    def got(self, request, name, call="query"):
        """(status, answer); status 0 where the daemon gave none, and it is up again"""
        path, body = self.located(request, name, call)
        try:
            status, _, text = self.daemon.request("POST", path, body, timeout=60)
            return status, json.loads(text) if text else None
        except (OSError, http.client.HTTPException, ValueError) as error:
            return 0, f"{type(error).__name__}: {error}; {self.revive()}"

    def revive(self):
        """starts the daemon again if it died; gives how it ended"""
        status = self.daemon.process.poll()
        if status is None:
            return "it still runs"
        tail = self.daemon.log_tail(1500)
        self.daemon.process.stdout.close()
        self.daemon.start()
        return f"it ended with {status}: {tail}"

    def difference(self, request, name):
        want = self.expected(request, name)
        return want and answers.difference(request, want, *self.got(request, name))

    def other_form(self, request, name, dice):
        path, body = self.located(request, name)
        whole = self.got(request, name)[1]
        choice = forms.FORMS if name is not None else forms.FORMS[2:]
        return dice.choice(choice)(lambda *a: self.daemon.request(*a, timeout=60), path, body, whole)
