"""An HTTP proxy in front of a server, which remembers what it was asked."""

import contextlib
import http.client
import http.server
import ssl
import threading


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def forward(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.requests.append((self.command, self.path))
        refusal = self.server.refuse(self.command, self.headers)
        if refusal:
            status, content = refusal
            self.answer(status, [], content, str(len(content)))
            return
        upstream = http.client.HTTPConnection("127.0.0.1", self.server.upstream_port)
        # The host that the client signed stays.
        upstream.request(self.command, self.path, body, dict(self.headers))
        answer = upstream.getresponse()
        content = self.server.change(self.path, answer.read())
        length = answer.getheader("Content-Length") if self.command == "HEAD" else str(len(content))
        self.answer(answer.status, answer.getheaders(), content, length)
        upstream.close()

    def answer(self, status, headers, content, length):
        self.send_response_only(status)
        for name, value in headers:
            if name.lower() not in ("connection", "transfer-encoding", "content-length"):
                self.send_header(name, value)
        self.send_header("Content-Length", length or "0")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = forward

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def counting_proxy(upstream_port, certificate=None, change=lambda path, content: content, refuse=lambda method, headers: None):
    """Yields the server: `requests` lists method and path of each request, `uri` says where it is.

    With a PEM file of key and certificate it speaks TLS. `change` makes the content of an answer from what came;
    `refuse` gives status and content of the answer to a request that is not sent on.
    """
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.upstream_port = upstream_port
    server.change = change
    server.refuse = refuse
    server.requests = []
    server.uri = f"{'https' if certificate else 'http'}://127.0.0.1:{server.server_port}"
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
