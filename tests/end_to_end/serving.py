"""A running `firn serve`, and clients of it."""

import contextlib
import http.client
import json
import re
import signal
import threading

SERVE_CONFIG = """
wal:
  flush_age: 20ms
shift:
  max_age: 100ms
http:
  listen: 127.0.0.1:0
"""


class Server:
    """One process; its log is read so that it never blocks."""

    def __init__(self, firn, **environment):
        self.process = firn.start("serve", **environment)
        self.process.stdin.close()
        self.log = []
        self.port = None
        self._settled = threading.Event()
        self._reader = threading.Thread(target=self._read_log, daemon=True)
        self._reader.start()

    def _read_log(self):
        for line in self.process.stderr:
            self.log.append(line)
            found = re.search(r"serving http://127\.0\.0\.1:(\d+)", line)
            if found:
                self.port = int(found[1])
                self._settled.set()
        self._settled.set()

    def await_serving(self):
        assert self._settled.wait(60) and self.port, "".join(self.log)
        return self

    def connect(self, timeout=60):
        if self.port is None:
            raise ConnectionError("it does not serve yet")
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def get(self, path):
        connection = self.connect()
        with contextlib.closing(connection):
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, response.read().decode()

    def post(self, table, records, connection=None, headers=None):
        """Posts records, or a body as it is; gives status and answer."""
        body = records if isinstance(records, (bytes, str)) else ndjson(records)
        with contextlib.nullcontext(connection) if connection else contextlib.closing(self.connect()) as used:
            used.request("POST", f"/v1/tables/{table}", body, headers or {})
            response = used.getresponse()
            text = response.read()
        return response.status, json.loads(text) if text.startswith(b"{") else text.decode()

    def await_end(self):
        """Its exit code, once its log was read to the end."""
        self.process.wait()
        self._reader.join()
        return self.process.returncode

    def stop(self, sent=signal.SIGTERM, code=0):
        self.process.send_signal(sent)
        self.process.wait(60)
        assert self.await_end() == code, "".join(self.log)

    def kill(self):
        self.process.kill()
        self.process.wait()


def ndjson(records):
    return "".join(json.dumps(record) + "\n" for record in records)


def start_server(firn, **environment):
    """Returns once it serves."""
    return Server(firn, **environment).await_serving()


@contextlib.contextmanager
def serving(firn, **environment):
    server = Server(firn, **environment)
    try:
        yield server.await_serving()
    finally:
        if server.process.poll() is None:
            server.kill()
