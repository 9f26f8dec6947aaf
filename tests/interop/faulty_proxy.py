"""A proxy in front of a REST catalog that spoils the first commit of a table."""

import http.client
import http.server
import re
import threading

IS_COMMIT = re.compile(r"/v1/namespaces/[^/]+/tables/[^/?]+$")
PAGE = b"<html>a proxy's page</html>"


class FaultyProxy:
    """Sends requests on to `port`; `strike(send, answer)` deals with the first commit instead.

    `send()` has the server carry the commit out and gives (status, body); `answer(status, body)` answers the client,
    and without one the connection is closed.
    """

    def __init__(self, port, strike):
        self.port = port
        self.strike = strike
        self.commits = 0
        self.lock = threading.Lock()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self.make_handler())
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever)

    @property
    def uri(self):
        return f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def is_first_commit(self, method, path):
        if method != "POST" or not IS_COMMIT.search(path):
            return False
        with self.lock:
            self.commits += 1
            return self.commits == 1

    def make_handler(proxy):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))

                def send():
                    behind = http.client.HTTPConnection("127.0.0.1", proxy.port)
                    headers = {name: value for name, value in self.headers.items() if name.lower() != "host"}
                    behind.request(self.command, self.path, body, headers)
                    response = behind.getresponse()
                    return response.status, response.read()

                if proxy.is_first_commit(self.command, self.path):
                    self.close_connection = True
                    proxy.strike(send, self.answer)
                else:
                    self.answer(*send())

            do_GET = do_POST = do_DELETE = do_HEAD = handle_one

            def answer(self, status, body=PAGE):
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        return Handler
