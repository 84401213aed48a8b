#!/usr/bin/env python3
"""The JSON gateway of a real control, spoken to by two clients that know nothing of Croft: curl, and Python's own TLS and HTTP.
CROFT_BIN names the programs."""
import base64
import concurrent.futures
import gzip
import http.client
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import tempfile
import time
import unittest

BIN = os.environ["CROFT_BIN"]
JSON = "application/json"


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Control:
    """One control for all tests; each test keeps to a farm of its own."""

    def __init__(self):
        self.work = tempfile.TemporaryDirectory(prefix="croft-gateway.")
        os.chmod(self.work.name, 0o755)
        self.data = os.path.join(self.work.name, "control")
        self.log = open(os.path.join(self.work.name, "log"), "w+", encoding="utf-8")
        self.process = subprocess.Popen([f"{BIN}/croft-control", "--data-dir", self.data, "--listen", "127.0.0.1:0"], stderr=self.log)
        deadline = time.monotonic() + 60
        while not os.path.exists(f"{self.data}/listen"):
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise RuntimeError(read(self.log.name))
            time.sleep(0.05)
        self.address = read(f"{self.data}/json-listen").strip()
        self.host, port = self.address.rsplit(":", 1)
        self.port = int(port)
        self.ca = f"{self.data}/ca.crt"
        self.token = re.search(r"token: *\"?([^\s\"]+)", read(f"{self.data}/operator.yaml")).group(1)
        self.tls = ssl.create_default_context(cafile=self.ca)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(30)
        self.log.close()
        self.work.cleanup()
        return code

    def pids(self):
        """Run by root, a parent looks after the database, and its child is the control."""
        children = read(f"/proc/{self.process.pid}/task/{self.process.pid}/children").split()
        return [self.process.pid] + [int(pid) for pid in children if "croft-control" in read(f"/proc/{pid}/cmdline")]

    def connect(self, timeout=20):
        return http.client.HTTPSConnection(self.host, self.port, context=self.tls, timeout=timeout)

    def raw(self):
        return self.tls.wrap_socket(socket.create_connection((self.host, self.port), 20), server_hostname=self.host)


control = None
farms = iter(f"f{i}" for i in range(1000))


def setUpModule():
    global control
    control = Control()


def tearDownModule():
    code = control.stop()
    assert code == 0, f"control ended with {code}"


def headers(**more):
    named = {name.replace("_", "-"): value for name, value in more.items()}
    return {"content-type": JSON, "authorization": f"Bearer {control.token}", "connect-protocol-version": "1", **named}


def post(method, body, connection=None, **more):
    """status, headers, parsed body"""
    own = connection or control.connect()
    own.request("POST", "/croft.v1." + method, body if isinstance(body, (bytes, str)) else json.dumps(body), headers(**more))
    response = own.getresponse()
    text = response.read()
    if connection is None:
        own.close()
    return response.status, response.headers, json.loads(text) if response.headers["content-type"] == JSON else text


def curl(*arguments, stdin=None, token=None):
    done = subprocess.run(["curl", "-sS", "--cacert", control.ca, "-H", f"Authorization: Bearer {token or control.token}", *arguments],
                          input=stdin, capture_output=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr.decode()


def new_farm():
    farm = next(farms)
    status, _, body = post("FarmService/CreateFarm", {"farmId": farm, "farm": {}})
    assert status == 200, body
    return f"farms/{farm}"


def new_farm_for_accounts():
    farm = new_farm()
    status, _, body = post("StoreService/CreateStore",
                           {"parent": farm, "storeId": "home", "store": {"path": "/srv/home", "homes": {"fanOut": [7, 5]}}})
    assert status == 200, body
    return farm


class Unary(unittest.TestCase):
    def test_a_resource_lives_from_create_to_delete(self):
        farm = new_farm()
        status, head, pool = post("PoolService/CreatePool", {"parent": farm, "pool_id": "web", "pool": {"labels": {"tier": "a"}}})
        self.assertEqual((status, pool["name"], head["croft-counts"]), (200, f"{farm}/pools/web", "created=1"))
        self.assertIsInstance(pool["uid"], str)
        self.assertRegex(pool["createTime"], r"^20\d\d-.*Z$")
        status, _, again = post("PoolService/GetPool", {"name": pool["name"]})
        self.assertEqual((status, again), (200, pool))
        status, _, listed = post("PoolService/ListPools", {"parent": farm, "pageSize": 5})
        self.assertEqual((status, [p["name"] for p in listed["pools"]]), (200, [pool["name"]]))
        status, head, changed = post("PoolService/UpdatePool", {"pool": {"name": pool["name"], "state": "STOPPED"}, "updateMask": "state"})
        self.assertEqual((status, changed["state"], changed["labels"], head["croft-counts"]), (200, "STOPPED", {"tier": "a"}, "updated=1"))
        # What was read is taken as it is.
        status, head, _ = post("PoolService/UpdatePool", {"pool": changed})
        self.assertEqual((status, head["croft-counts"]), (200, "unchanged=1"))
        status, head, _ = post("PoolService/DeletePool", {"name": pool["name"], "etag": changed["etag"]})
        self.assertEqual((status, head["croft-counts"]), (200, "deleted=1"))
        status, _, error = post("PoolService/GetPool", {"name": pool["name"]})
        self.assertEqual((status, error["code"]), (404, "not_found"))

    def test_errors_are_for_programs_and_for_people(self):
        status, _, error = post("SiteService/CreateSite", {"parent": new_farm(), "siteId": "shop", "site": {
            "bindings": [{"port": 70000}, {"host": "no such host"}]}})
        self.assertEqual((status, error["code"]), (400, "invalid_argument"))
        detail = error["details"][0]
        self.assertEqual((detail["type"], detail["debug"]["reason"], detail["debug"]["retryable"]),
                         ("croft.v1.ErrorDetail", "FIELD_INVALID", False))
        self.assertGreaterEqual(len(detail["debug"]["violations"]), 2)
        self.assertIn("site.bindings[0].port", [v["field"] for v in detail["debug"]["violations"]])
        value = detail["value"] + "=" * (-len(detail["value"]) % 4)
        self.assertIn(b"site.bindings[0].port", base64.b64decode(value, validate=True))

    def test_who_has_no_valid_token_is_told_so(self):
        for authorization in ["", "Bearer wrong", "Basic " + control.token]:
            status, head, error = post("FarmService/ListFarms", {}, authorization=authorization)
            self.assertEqual((status, error["code"], head["www-authenticate"]), (401, "unauthenticated", "Bearer"))

    def test_bodies_are_judged_strictly(self):
        cases = [
            ('{"parent": "farms/a", "parent": "farms/b"}', "parent: line 1: stands twice"),
            ('{"siteId": "a", "site_id": "a"}', "site_id: line 1: stands twice"),
            ('{"site": {"bindigns": []}}', 'the nearest is "site.bindings"'),
            ('{"site": {"labels": {"a": 1}}}', "site.labels[a]"),
            ('{"validateOnly": "yes"}', "has to be true or false"),
            ('{"site": ' + "[" * 5000, "nested deeper than 32"),
            ("site: {}", "expected a value"),
            ('{"siteId": "a\tb"}', "control character"),
            ("", "the text is empty"),
            (b'{"siteId": "\xff"}', "not UTF-8"),
            (b"\0" * 100, "expected a value"),
        ]
        connection = control.connect()
        for body, expected in cases:
            status, _, error = post("SiteService/CreateSite", body, connection)
            self.assertEqual((status, error["code"]), (400, "invalid_argument"), body[:60])
            self.assertIn(expected, error["message"])
        # JSON's own spaces are none of YAML's.
        status, _, _ = post("FarmService/ListFarms", '\t{\r\n\t"pageSize"\t:\t1}\n', connection)
        self.assertEqual(status, 200)
        connection.close()

    def test_what_is_no_call_is_refused_by_http_status(self):
        def request(verb, path, **more):
            connection = control.connect()
            connection.request(verb, path, b"{}" if verb == "POST" else None, headers(**more))
            response = connection.getresponse()
            body = json.loads(response.read())
            connection.close()
            return response.status, body["code"], response.headers
        list_farms = "/croft.v1.FarmService/ListFarms"
        status, code, head = request("GET", list_farms)
        self.assertEqual((status, code, head["allow"]), (405, "unimplemented", "POST"))
        self.assertEqual(request("POST", "/croft.v1.FarmService/Nothing")[:2], (404, "unimplemented"))
        self.assertEqual(request("POST", "/")[:2], (404, "unimplemented"))
        self.assertEqual(request("POST", "/croft.node.v1.NodeFeed/Connect")[:2], (501, "unimplemented"))
        status, code, head = request("POST", list_farms, content_type="text/plain")
        self.assertEqual((status, head["accept-post"]), (415, "application/json, application/proto"))
        self.assertEqual(request("POST", list_farms, content_encoding="gzip")[:2], (501, "unimplemented"))
        self.assertEqual(request("POST", list_farms, connect_protocol_version="7")[:2], (400, "invalid_argument"))
        self.assertEqual(request("POST", list_farms, connect_timeout_ms="soon")[:2], (400, "invalid_argument"))

    def test_protobufs_binary_form_is_spoken_too(self):
        name = new_farm()
        body = b"\x0a" + bytes([len(name)]) + name.encode()
        status, head, farm = post("FarmService/GetFarm", body, content_type="application/proto")
        self.assertEqual((status, head["content-type"]), (200, "application/proto"))
        self.assertTrue(farm.startswith(body))
        status, _, error = post("FarmService/GetFarm", body + b"\xa0\x38\x01", content_type="application/proto")
        self.assertEqual((status, error["code"]), (400, "invalid_argument"))

    def test_the_callers_deadline_is_obeyed(self):
        farm = new_farm()
        connection = control.connect()
        # An answer that is there before anybody looked is not late.
        late = [post("FarmService/ListFarms", {}, connection, connect_timeout_ms="0") for _ in range(50)]
        self.assertIn((504, "deadline_exceeded"), [(status, body.get("code")) for status, _, body in late])
        self.assertEqual(post("FarmService/GetFarm", {"name": farm}, connection, connect_timeout_ms="20000")[0], 200)
        connection.close()

    def test_a_thousand_requests_on_one_connection(self):
        farm = new_farm()
        connection = control.connect()
        connection.connect()
        socket_ = connection.sock
        for _ in range(1000):
            status, _, body = post("FarmService/GetFarm", {"name": farm}, connection)
            self.assertEqual((status, body["name"]), (200, farm))
        self.assertIs(connection.sock, socket_)
        connection.close()

    def test_requests_in_a_row_are_answered_in_a_row(self):
        sock = control.raw()
        one = (f"POST /croft.v1.FarmService/ListFarms HTTP/1.1\r\nHost: x\r\nContent-Type: {JSON}\r\n"
               f"Authorization: Bearer {control.token}\r\nContent-Length: 2\r\n").encode()
        sock.sendall((one + b"\r\n{}") * 9 + one + b"Connection: close\r\n\r\n{}")
        answers = b""
        while data := sock.recv(65536):
            answers += data
        self.assertEqual(answers.count(b"HTTP/1.1 200 OK"), 10)
        sock.close()

    def test_many_clients_at_once(self):
        farm = new_farm()

        def create(i):
            return post("PoolService/CreatePool", {"parent": farm, "poolId": f"p{i}", "pool": {}})[0]
        with concurrent.futures.ThreadPoolExecutor(16) as clients:
            self.assertEqual(set(clients.map(create, range(64))), {200})


class Curl(unittest.TestCase):
    def url(self, path):
        return f"https://{control.address}{path}"

    def test_creates_lists_and_reads_errors(self):
        farm = new_farm()
        code, out, err = curl("--json", json.dumps({"parent": farm, "poolId": "web", "pool": {}}), self.url("/croft.v1.PoolService/CreatePool"))
        self.assertEqual((code, json.loads(out or "{}").get("name")), (0, f"{farm}/pools/web"), err)
        code, out, err = curl("--json", json.dumps({"parent": farm}), self.url("/croft.v1.PoolService/ListPools"))
        self.assertEqual((code, len(json.loads(out)["pools"])), (0, 1), err)
        code, out, err = curl("-w", "\n%{http_code}", "--json", "{}", self.url("/croft.v1.PoolService/GetPool"))
        self.assertEqual(out.split(b"\n")[-1], b"400", err)

    def test_a_hundred_megabytes_are_refused_before_they_come(self):
        with tempfile.NamedTemporaryFile() as large:
            large.truncate(100 * 1024 * 1024)
            for expect in (["-H", "Expect: 100-continue"], ["-H", "Expect:"]):
                code, out, err = curl("-w", "\n%{http_code} %{size_upload}", "-H", f"Content-Type: {JSON}", *expect, "--data-binary",
                                      "@" + large.name, self.url("/croft.v1.SiteService/CreateSite"))
                body, facts = out.split(b"\n")
                self.assertEqual((code, facts.split()[0], json.loads(body)["code"]), (0, b"413", "resource_exhausted"), err)
        self.assertEqual(post("FarmService/ListFarms", {})[0], 200)

    def test_a_stranger_is_asked_for_a_token_before_a_large_body(self):
        with tempfile.NamedTemporaryFile() as large:
            large.truncate(3 * 1024 * 1024)
            code, out, err = curl("-w", "\n%{http_code} %{size_upload}", "-H", f"Content-Type: {JSON}", "-H", "Expect: 100-continue",
                                  "--data-binary", "@" + large.name, self.url("/croft.v1.SiteService/CreateSite"), token="no")
            self.assertEqual((code, out.split(b"\n")[1]), (0, b"401 0"), err)

    def test_pages_need_no_token(self):
        code, out, _ = curl("-H", "Authorization:", self.url("/healthz"))
        self.assertEqual((code, out), (0, b"ok\n"))
        code, out, _ = curl("-H", "Authorization:", self.url("/openapi.json"))
        document = json.loads(out)
        self.assertEqual((code, document["openapi"]), (0, "3.1.0"))
        self.assertIn("/croft.v1.SiteService/CreateSite", document["paths"])
        printed = subprocess.run([f"{BIN}/croft-control", "openapi"], capture_output=True, check=True).stdout
        self.assertEqual(json.loads(printed), document)

    def test_imports_lines(self):
        farm = new_farm_for_accounts()
        lines = [json.dumps({"rows": [account_row(farm, i) for i in range(b * 10, b * 10 + 10)]}) for b in range(3)]
        code, out, err = curl("-H", "Content-Type: application/x-ndjson", "--data-binary", "@-",
                              self.url("/croft.v1.ResourceService/ImportResources"), stdin=("\n".join(lines)).encode())
        answers = [json.loads(line) for line in out.decode().splitlines()]
        self.assertEqual((code, [a["counts"].get("created") for a in answers]), (0, ["10", "10", "10"]), err)


def account_row(farm, i):
    return {"line": i, "resource": {"account": {"name": f"{farm}/accounts/u{i}"}}}


def chunk(text):
    data = text.encode()
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


class Import(unittest.TestCase):
    """Over a bare TLS socket, to see when things come."""

    def open(self, content_type="application/jsonl", token=None):
        sock = control.raw()
        sock.sendall((f"POST /croft.v1.ResourceService/ImportResources HTTP/1.1\r\nHost: x\r\nContent-Type: {content_type}\r\n"
                      f"Authorization: Bearer {token or control.token}\r\nTransfer-Encoding: chunked\r\n\r\n").encode())
        return sock, sock.makefile("rb")

    def read_head(self, file):
        status = int(file.readline().split()[1])
        fields = {}
        while line := file.readline().strip():
            name, value = line.decode().split(": ", 1)
            fields[name.lower()] = value
        return status, fields

    def read_chunk(self, file):
        size = int(file.readline(), 16)
        data = file.read(size)
        file.readline()
        return data.decode()

    def rows(self, first, count, farm="farms/none"):
        return json.dumps({"rows": [account_row(farm, i) for i in range(first, first + count)]}) + "\n"

    def test_each_batch_is_answered_before_the_next_is_sent(self):
        farm = new_farm_for_accounts()
        sock, file = self.open()
        sock.sendall(chunk(self.rows(0, 5, farm)))
        status, fields = self.read_head(file)
        self.assertEqual((status, fields["content-type"]), (200, "application/jsonl"))
        self.assertEqual(json.loads(self.read_chunk(file))["counts"]["created"], "5")
        second = self.rows(5, 3, farm)
        sock.sendall(chunk(second[:20]))  # a line may come in any pieces, with empty ones around it
        sock.sendall(chunk(second[20:] + "\n\r\n"))
        self.assertEqual(json.loads(self.read_chunk(file))["counts"]["created"], "3")
        sock.sendall(b"0\r\n\r\n")
        self.assertEqual(self.read_chunk(file), "")
        sock.close()

    def test_an_error_is_the_last_line(self):
        farm = new_farm_for_accounts()
        sock, file = self.open()
        sock.sendall(chunk(self.rows(0, 1, farm)))
        self.read_head(file)
        self.read_chunk(file)
        sock.sendall(chunk('{"rowz": []}\n'))
        error = json.loads(self.read_chunk(file))["error"]
        self.assertEqual(error["code"], "invalid_argument")
        self.assertIn('the nearest is "rows"', error["message"])
        self.assertEqual(self.read_chunk(file), "")
        sock.close()

    def test_an_error_before_any_answer_has_its_http_status(self):
        for expected, line, token in [(400, "[]\n", None), (401, self.rows(0, 1), "wrong"), (400, self.rows(0, 10_001), None)]:
            sock, file = self.open(token=token)
            sock.sendall(chunk(line))
            status, fields = self.read_head(file)
            body = json.loads(file.read(int(fields["content-length"])))
            self.assertEqual(status, expected, body)
            sock.close()

    def test_no_line_at_all_is_an_import_of_nothing(self):
        sock, file = self.open()
        sock.sendall(b"0\r\n\r\n")
        self.assertEqual(self.read_head(file)[0], 200)
        self.assertEqual(self.read_chunk(file), "")
        sock.close()

    def test_a_line_without_end_is_refused(self):
        sock, file = self.open()
        sock.sendall(chunk("[" * (5 * 1024 * 1024)))
        status, fields = self.read_head(file)
        self.assertEqual((status, json.loads(file.read(int(fields["content-length"])))["code"]), (429, "resource_exhausted"))
        sock.close()

    def test_a_client_that_dies_in_the_middle_leaves_whole_batches(self):
        farm = new_farm_for_accounts()
        sock, file = self.open()
        sock.sendall(chunk(self.rows(0, 4, farm)))
        self.read_head(file)
        self.read_chunk(file)
        sock.sendall(chunk(self.rows(4, 4, farm)[:30]))
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # a reset, as of a crash
        sock.close()
        status, _, listed = post("AccountService/ListAccounts", {"parent": farm})
        self.assertEqual((status, len(listed["accounts"])), (200, 4))


class BadClients(unittest.TestCase):
    def test_no_http_and_too_much_header_are_refused(self):
        for request, expected in [(b"hello\r\n\r\n", 400), (b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n", 400),
                                  (b"GET / HTTP/1.1\r\nX: " + b"a" * 20000 + b"\r\n\r\n", 431)]:
            sock = control.raw()
            sock.sendall(request)
            self.assertEqual(int(sock.makefile("rb").readline().split()[1]), expected)
            sock.close()

    def test_plain_text_on_the_tls_port_is_closed(self):
        sock = socket.create_connection((control.host, control.port), 20)
        sock.sendall(b"GET /healthz HTTP/1.1\r\n\r\n")
        try:
            self.assertNotIn(b"200", sock.recv(1000))
        except ConnectionResetError:
            pass
        sock.close()

    def test_slow_and_silent_clients_hold_up_nobody(self):
        slow = [control.raw() for _ in range(20)]
        for i, sock in enumerate(slow):
            sock.sendall([b"", b"PO", b"POST /croft.v1.FarmService/ListFarms HTTP/1.1\r\nHost: x\r\n",
                          f"POST /croft.v1.FarmService/ListFarms HTTP/1.1\r\nContent-Type: {JSON}\r\nAuthorization: Bearer {control.token}\r\n"
                          "Content-Length: 1000\r\n\r\n{".encode()][i % 4])
        begun = time.monotonic()
        self.assertEqual(post("FarmService/ListFarms", {})[0], 200)
        self.assertLess(time.monotonic() - begun, 2)
        for sock in slow:
            sock.close()

    def test_connections_that_break_leave_nothing_behind(self):
        def files():
            return sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in control.pids())
        before = files()
        for _ in range(50):
            sock = control.raw()
            sock.sendall(b"POST /croft.v1.FarmService/ListFarms HTTP/1.1\r\nContent-Length: 10\r\n\r\n{")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            sock.close()
        deadline = time.monotonic() + 10
        while files() > before + 10 and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertLessEqual(files(), before + 10)

    def test_a_packed_body_is_not_guessed_at(self):
        status, _, error = post("FarmService/ListFarms", gzip.compress(b"{}"))
        self.assertEqual((status, error["code"]), (400, "invalid_argument"))


if __name__ == "__main__":
    unittest.main()
