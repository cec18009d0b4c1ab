"""Drives `sarrus view` for check_view.sh: view.py SARRUS FOLDER, with a model pendulum.xml in the folder."""
import base64, fcntl, json, os, random, re, signal, socket, struct, subprocess, sys, threading, time

F_SETPIPE_SZ = 1031  # of Linux; fcntl names it from Python 3.10 on

sarrus, folder = sys.argv[1], sys.argv[2]
faults = []


def expect(good, what):
    if not good:
        faults.append(what)
        print("  " + what)


class Server:
    def __init__(self, *arguments):
        self.process = subprocess.Popen([sarrus, "view", *arguments, "--no-open", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        text = b""
        while b"}" not in text:
            part = os.read(self.process.stdout.fileno(), 4096)
            if not part:
                raise SystemExit("FAILED view: it does not start: " + self.process.stderr.read().decode())
            text += part
        about = json.loads(text)
        self.port = about["port"]
        self.token = re.search(r"token=([0-9a-f]{32})$", about["address"]).group(1)
        self.host = f"127.0.0.1:{self.port}"

    def connect(self, seconds=10):
        s = socket.create_connection(("127.0.0.1", self.port), seconds)
        s.settimeout(seconds)
        return s

    def raw(self, data, seconds=10):
        """The answer to bytes, as far as it comes."""
        out = b""
        with self.connect(seconds) as s:
            try:
                s.sendall(data)
                s.shutdown(socket.SHUT_WR)
                while part := s.recv(65536):
                    out += part
            except OSError:
                pass
        return out

    def get(self, path, host=None, method="GET", more=""):
        head = f"{method} {path} HTTP/1.1\r\nHost: {host or self.host}\r\n{more}Connection: close\r\n\r\n"
        out = b""
        with self.connect() as s:
            s.sendall(head.encode("latin-1"))
            try:
                while part := s.recv(65536):
                    out += part
            except OSError:
                pass
        return int(out.split(b" ", 2)[1]) if out.startswith(b"HTTP/1.1 ") else 0, out

    def end(self):
        self.process.send_signal(signal.SIGINT)
        try:
            return self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return None


class Socket:
    """A WebSocket: RFC 6455, as much of it as is needed."""

    def __init__(self, server, token=None, origin="", host=None, seconds=20):
        self.s = server.connect(seconds)
        origin = f"http://{server.host}" if origin == "" else origin
        head = (f"GET /live?token={server.token if token is None else token} HTTP/1.1\r\nHost: {host or server.host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}\r\nSec-WebSocket-Version: 13\r\n")
        self.s.sendall((head + (f"Origin: {origin}\r\n" if origin else "") + "\r\n").encode())
        answer = b""
        while b"\r\n\r\n" not in answer:
            part = self.s.recv(1)
            if not part:
                break
            answer += part
        self.status = int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else 0

    def frame(self, data, code=1, end=True, masked=True):
        n, mask = len(data), os.urandom(4)
        head = bytes([(128 if end else 0) | code])
        bit = 128 if masked else 0
        head += bytes([bit | n]) if n < 126 else bytes([bit | 126]) + struct.pack(">H", n) if n < 65536 else bytes([bit | 127]) + struct.pack(">Q", n)
        body = bytes(b ^ mask[i & 3] for i, b in enumerate(data)) if masked else data
        return head + (mask if masked else b"") + body

    def send(self, text):
        self.s.sendall(self.frame(text.encode()))

    def exactly(self, n):
        out = b""
        while len(out) < n:
            part = self.s.recv(n - len(out))
            if not part:
                raise EOFError
            out += part
        return out

    def receive(self):
        while True:
            head = self.exactly(2)
            n = head[1] & 127
            if n == 126:
                n = struct.unpack(">H", self.exactly(2))[0]
            elif n == 127:
                n = struct.unpack(">Q", self.exactly(8))[0]
            data, code = self.exactly(n), head[0] & 15
            if code == 8:
                raise EOFError
            if code == 2:
                return data

    def ask(self, **request):
        self.send(json.dumps(request))
        data = self.receive()
        n = struct.unpack("<I", data[:4])[0]
        answer = json.loads(data[4:4 + n])
        base = (4 + n + 7) // 8 * 8

        def array(name):
            a = answer["arrays"][name]
            kind = {"f32": "f", "f64": "d", "u32": "I", "u8": "B"}[a["type"]]
            return struct.unpack_from(f"<{a['n']}{kind}", data, base + a["at"])

        answer["array"] = array
        return answer

    def close(self):
        self.s.close()


def who_may_ask(v):
    good = f"/?token={v.token}"
    status, out = v.get(good)
    head = out.split(b"\r\n\r\n")[0].decode()
    expect(status == 200 and b"sarrus-live" in out, f"the page: {status}")
    for name in ("Content-Security-Policy: default-src 'none'; script-src 'sha256-", "X-Content-Type-Options: nosniff", "Referrer-Policy: no-referrer",
                 "Cross-Origin-Opener-Policy: same-origin", "Cross-Origin-Resource-Policy: same-origin", "Cache-Control: no-store"):
        expect(name in head, f"no header {name}")
    expect("connect-src 'self'" in out.decode().split("<title>")[0].split("<meta charset")[1], "the policy of the page lets it not connect")
    expect(v.token.encode() not in out, "the token is in the page")
    expect(v.get(good, host=f"localhost:{v.port}")[0] == 200, "localhost is refused")
    other = "0" * 32
    for path, host, more, status in (
            ("/", None, "", 403), (f"/?token={other}", None, "", 403), (f"/?token={v.token[:-1]}", None, "", 403), (f"/?token={v.token}0", None, "", 403),
            ("/?token=", None, "", 403), (f"/?Token={v.token}", None, "", 403), (good, "evil.example", "", 403), (good, f"evil.example:{v.port}", "", 403),
            (good, f"127.0.0.1.evil.example:{v.port}", "", 403), (good, "127.0.0.1", "", 403), (good, f"127.0.0.1:{v.port + 1}", "", 403),
            (good, None, "Origin: http://evil.example\r\n", 403), (good, None, "Origin: null\r\n", 403), (good, None, f"Origin: https://{v.host}\r\n", 403),
            (good, None, f"Origin: http://{v.host}\r\n", 200), (good, None, f"Host: {v.host}\r\n", 403), (good, None, "Host: evil.example\r\n", 403)):
        got = v.get(path, host, more=more)[0]
        expect(got == status, f"{path.replace(v.token, 'TOKEN')} {host} {more.strip()}: {got}, expected {status}")
    for path in ("/pendulum.xml", "/../pendulum.xml", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc/passwd", "//etc/passwd", "/./../../etc/passwd", "/live", "/favicon.ico", "/x/..", "/\\..\\etc"):
        status, out = v.get(f"{path}?token={v.token}")
        expect(status in (400, 404) and b"root:" not in out and b"<sarrus" not in out, f"{path}: {status}")
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "PROPFIND", "MKCOL"):
        expect(v.get(good, method=method)[0] in (404, 405, 501), f"{method} is taken")
    status = v.get("/?token=" + "a" * 20000)[0]
    expect(status in (0, 400, 413, 414, 431), f"20 kB of address: {status}")
    status = v.get(good, more="".join(f"X-{i}: {'b' * 300}\r\n" for i in range(100)))[0]
    expect(status in (0, 400, 413, 431), f"30 kB of headers: {status}")
    for what, status in (({"token": other}, 403), ({"token": ""}, 403), ({"origin": None}, 403), ({"origin": "http://evil.example"}, 403), ({"host": "evil.example"}, 403), ({}, 101)):
        w = Socket(v, **what)
        expect(w.status == status, f"WebSocket {what}: {w.status}, expected {status}")
        w.close()


def sessions(v):
    a, b = Socket(v), Socket(v)
    expect(a.ask(id=1, do="hello")["engine"] == "native", "hello")
    x = a.ask(id=2, do="load", path="pendulum.xml")
    expect(x["ok"] and "<sarrus" in x["text"] and x["array"]("q")[0] > 1.57, "load by path")
    for path in ("../pendulum.xml", "/etc/passwd", "a/../../x", "", ".", "none.xml"):
        expect(not a.ask(do="load", path=path)["ok"], f"path '{path}' is read")
    os.symlink("/etc/passwd", os.path.join(folder, "link.xml"))
    expect("folder of the session" in a.ask(do="load", path="link.xml")["error"], "a link out of the folder is followed")
    y = a.ask(do="advance", to=0.1, budget=5000)
    expect(y["ok"] and y["rows"] > 3, f"advance: {y}")
    expect("load one first" in b.ask(do="step", n=1)["error"], "sessions share a model")
    # A message in three frames, and one in the middle of which a ping comes.
    a.s.sendall(a.frame(b'{"do": ', end=False) + a.frame(b"x", code=9) + a.frame(b'"step"', code=0, end=False) + a.frame(b', "n": 2}', code=0))
    data = a.receive()
    expect(b'"ok": true' in data, "a message in three frames")
    expect(a.ask(do="changed")["changed"] is False, "a file that did not change")
    path = os.path.join(folder, "pendulum.xml")
    text = open(path).read()
    open(path, "w").write(text.replace('name="m" value="1"', 'name="m" value="12.5"'))
    expect(a.ask(do="changed")["changed"] is True, "a file that has changed")
    z = a.ask(do="load", path="pendulum.xml")
    expect(z["ok"] and [p["value"] for p in z["parameters"] if p["name"] == "m"] == [12.5] and a.ask(do="changed")["changed"] is False, "it is read again")
    open(path, "w").write(text)
    saving(a, path, text)
    deep = open("models/contact/bead-in-bowl.xml").read()  # a search that calls itself many times
    x = b.ask(do="load", text=deep)
    expect(x["ok"] and b.ask(do="step", n=3)["ok"], "a model that needs a deep stack")
    x = b.ask(do="load", text="<sarrus version='1' name='x'>" + "<repeat>" * 20000)
    expect(not x["ok"] and b.ask(do="step", n=3)["ok"], "elements nested 20000 deep")
    a.close()
    b.close()


def saving(a, path, text):
    """The file of the model, and no other, is written: where it still is what the page knows."""
    expect(a.ask(do="hello")["writes"] == "pendulum.xml", "the file that may be written")
    os.chmod(path, 0o600)
    before = sorted(os.listdir(folder))
    x = a.ask(do="save", text=text.replace("pendulum", "saved"), before=text)
    expect(x["ok"] and x["saved"] and open(path).read() == text.replace("pendulum", "saved"), f"the file is not saved: {x}")
    expect(os.stat(path).st_mode & 0o777 == 0o600 and sorted(os.listdir(folder)) == before, "rights, or files beside it")
    open(path, "w").write(text + "<!-- by another hand -->")
    x = a.ask(do="save", text=text, before=text)
    expect(x["ok"] and not x["saved"] and x["text"] == text + "<!-- by another hand -->" and open(path).read() == x["text"], f"a file that has changed is overwritten: {x}")
    # Nothing that a page says names another file.
    other = os.path.join(folder, "other.xml")
    open(other, "w").write(text)
    for more in ({"path": "other.xml"}, {"file": "other.xml"}, {"file": "../x"}, {"over": True}, {"before": 7}, {"before": None}, {"text": 7}, {"text": "a\x00b"}):
        x = a.ask(**{"do": "save", "text": "hostile", "before": text + "<!-- by another hand -->", **more})
        expect(not x["ok"] and len(x["error"]) > 10, f"save {more}: {x}")
    a.ask(do="load", path="other.xml")  # reading another one does not make it the one that is written
    x = a.ask(do="save", text="hostile", before=text)
    expect(x["ok"] and not x["saved"] and open(other).read() == text, "the file that was read last is written")
    expect(open(path).read() == text + "<!-- by another hand -->", "a refused request has written")
    # Links that lead out, a folder in its place, a file that must not be written.
    outside = os.path.join(os.path.dirname(folder), f"outside-{os.getpid()}.xml")
    open(outside, "w").write("outside")
    os.remove(path)
    os.symlink(outside, path)
    x = a.ask(do="save", text="hostile", before="outside")
    expect(not x["ok"] and "leads out of the folder" in x["error"] and open(outside).read() == "outside", f"a link out of the folder: {x}")
    os.remove(path)
    os.remove(outside)
    os.mkdir(path)
    expect(not a.ask(do="save", text="hostile")["ok"] and not a.ask(do="save", text="hostile", before="")["ok"] and os.listdir(path) == [], "a folder is written")
    os.rmdir(path)
    x = a.ask(do="save", text=text, before=text)
    expect(x["ok"] and not x["saved"] and "text" not in x and not os.path.exists(path), f"a file that is gone: {x}")
    expect(a.ask(do="save", text=text)["saved"] and open(path).read() == text, "a file that is gone is made again")
    os.chmod(path, 0o400)
    if os.getuid() != 0:
        expect("denied" in a.ask(do="save", text="hostile", before=text)["error"], "a file that must not be written")
    os.chmod(path, 0o644)
    os.remove(other)
    expect(a.ask(do="load", path="pendulum.xml")["ok"] and open(path).read() == text, "the model after all that")


def noise(v):
    """Mangled requests and frames: the server goes on."""
    rng = random.Random(18)
    whole = f"GET /?token={v.token} HTTP/1.1\r\nHost: {v.host}\r\nOrigin: http://{v.host}\r\n\r\n".encode()

    def mangle(data):
        data = bytearray(data)
        for _ in range(rng.randint(1, 8)):
            kind, at = rng.randint(0, 3), rng.randrange(len(data)) if data else 0
            if kind == 0 and data:
                data[at] = rng.randrange(256)
            elif kind == 1:
                data[at:at] = bytes(rng.randrange(256) for _ in range(rng.randint(1, 20)))
            elif kind == 2:
                del data[at:at + rng.randint(1, 10)]
            else:
                data = data[:max(1, at)]
        return bytes(data)

    texts, some = [mangle(whole) for _ in range(200)], []
    for i in range(10):  # some wait for the rest of a request until the server has had enough
        some.append(threading.Thread(target=lambda part: [v.raw(text, 3) for text in part], args=(texts[i::10],)))
        some[-1].start()
    for thread in some:
        thread.join()
    requests = ['{"id": 1, "do": "load", "path": "pendulum.xml"}', '{"do": "advance", "to": 0.05, "budget": 20}', '{"do": "pose", "q": [[0, 0.4]]}',
                '{"do": "save", "text": "x", "before": "y"}', '{"do": "pull", "body": 1, "at": [0, 0, -1], "to": [1, 0, 0]}', '{"do": "parameter", "name": "l", "value": "2"}', '{"do": "options", "method": "rk4", "step": 0.01}']
    w = Socket(v)
    w.ask(do="load", path="pendulum.xml")
    for i in range(200):
        text = mangle(requests[i % len(requests)].encode())
        w.s.sendall(w.frame(text))
        data = w.receive()
        n = struct.unpack("<I", data[:4])[0]
        json.loads(data[4:4 + n])
    expect(w.ask(do="step")["ok"], "the session is gone after mangled requests")
    w.close()
    for _ in range(100):
        w = Socket(v, seconds=3)
        frame = mangle(w.frame(requests[0].encode(), code=rng.choice([0, 1, 2, 3, 8, 9, 10, 15]), end=rng.random() < 0.7, masked=rng.random() < 0.8))
        try:
            w.s.sendall(frame)
        except OSError:
            pass
        w.close()
    expect(v.get(f"/?token={v.token}")[0] == 200, "no page after mangled requests")


def slow_clients(v):
    half = []
    for _ in range(8):
        s = v.connect()
        s.sendall(b"GET / HTTP/1.1\r\nHost: ")
        half.append(s)
    begin = time.monotonic()
    status = v.get(f"/?token={v.token}")[0]
    taken = time.monotonic() - begin
    expect(status == 200 and taken < 5, f"8 half-open connections hold the page up: {status}, {taken:.1f} s")
    for s in half:
        s.close()
    # One asks for much and reads nothing: it is dropped, and another one is served meanwhile.
    deaf, well = Socket(v), Socket(v)
    deaf.ask(do="load", path="pendulum.xml")
    deaf.ask(do="options", method="rk4", step=1e-4, every=1e-4)
    well.ask(do="load", path="pendulum.xml")
    gone = threading.Event()

    def flood():
        try:
            for i in range(2000):
                deaf.send(json.dumps({"do": "run", "t_end": 5, "method": "rk4", "step": 1e-3, "every": 1e-3}))
        except OSError:
            pass
        gone.set()

    threading.Thread(target=flood, daemon=True).start()
    slowest = 0
    end = time.monotonic() + 6
    while time.monotonic() < end:
        begin = time.monotonic()
        expect(well.ask(do="step", n=5)["ok"], "step beside a client that does not read")
        slowest = max(slowest, time.monotonic() - begin)
        time.sleep(0.02)
    expect(slowest < 2, f"a client that does not read holds another one up: {slowest:.1f} s")
    well.close()
    dropped, got = False, 0
    deaf.s.settimeout(20)
    try:
        while part := deaf.s.recv(1 << 20):
            got += len(part)
            if got > 1 << 28:
                raise OSError
        dropped = True
    except ConnectionError:
        dropped = True
    except OSError:
        pass
    expect(dropped, f"a client that does not read is not dropped: {got} bytes")
    deaf.close()
    # More than there is room for.
    many = [Socket(v) for _ in range(28)]
    refused = sum(w.status == 503 for w in many)
    expect(refused >= 4 and v.get(f"/?token={v.token}")[0] == 200, f"28 sessions: {refused} refused")
    for w in many:
        w.close()
    big = Socket(v)
    try:
        big.s.sendall(b"".join(big.frame(b" " * (1 << 20), code=1 if i == 0 else 0, end=False) for i in range(18)))
        while big.s.recv(65536):
            pass
        expect(True, "")
    except ConnectionError:
        pass
    except OSError:
        expect(False, "18 MB of a request are taken")
    big.close()
    expect(v.get(f"/?token={v.token}")[0] == 200, "no page after slow clients")


def threads(v):
    return len(os.listdir(f"/proc/{v.process.pid}/task"))


def resident(v):
    with open(f"/proc/{v.process.pid}/status") as file:
        return int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1)) << 10


def leaves(v):
    """A whole run ends when its client goes, one that waits is answered; what a frame claims to be is not taken before it comes."""
    w = Socket(v)
    w.ask(do="load", path="pendulum.xml")
    x = w.ask(do="run", t_end=1e6, every=1000, method="rk4", step=0.3, id=5)  # longer than some pings
    expect(x["ok"] and x["id"] == 5 and "stopped" not in x and x["array"]("t")[-1] == 1e6, f"a long run of a client that waits: {str(x)[:200]}")
    idle, ways = threads(v), ("close", "reset", "half")
    for how in ways:
        w = Socket(v)
        w.ask(do="load", path="pendulum.xml")
        w.send(json.dumps({"do": "run", "t_end": 1e9, "every": 1e6}))
        time.sleep(0.3)
        if how == "reset":
            w.s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if how == "half":
            w.s.sendall(w.frame(struct.pack(">H", 1001), code=8))  # as a browser whose page goes away
        w.close()
    end = time.monotonic() + 30
    while threads(v) > idle and time.monotonic() < end:
        time.sleep(0.1)
    expect(threads(v) <= idle, f"{threads(v) - idle} runs go on without their clients")
    empty, held = resident(v), []
    for n in (1 << 30, 1 << 31, 1 << 40, (1 << 63) - 1):
        w = Socket(v)
        w.s.sendall(bytes([0x81, 255]) + struct.pack(">Q", n) + b"x" * 100000)
        held.append(w)
    time.sleep(0.3)
    expect(resident(v) - empty < 16 << 20, f"frames that claim to be large take {(resident(v) - empty) >> 20} MB")
    for w in held:
        w.close()


def ends(v):
    """While a session runs."""
    w = Socket(v)
    w.ask(do="load", path="pendulum.xml")
    w.send(json.dumps({"do": "run", "t_end": 1e6, "every": 1000}))
    time.sleep(0.3)
    begin = time.monotonic()
    status = v.end()
    taken = time.monotonic() - begin
    expect(status == 0 and taken < 12, f"Ctrl-C: status {status} after {taken:.1f} s")
    w.close()


def results():
    def refused(*arguments):
        p = subprocess.run([sarrus, "view", *arguments, "--no-open"], capture_output=True, timeout=60)
        return p.returncode == 2 and p.stderr.decode()
    table = os.path.join(folder, "run.csv")
    model = os.path.join(folder, "pendulum.xml")
    subprocess.run([sarrus, "run", model, "--t-end", "1", "--set", "l=0.8", "--out", table, "--quiet"], check=True)
    v = Server(table)
    status, out = v.get(f"/?token={v.token}")
    expect(status == 200 and b'id="sarrus-poses"' in out and b"sarrus-live" not in out.split(b"<script type=\"module\">")[0], f"a result: {status}")
    blocks = dict(re.findall(r'id="sarrus-([a-z]+)">([A-Za-z0-9+/=]*)</script>', out.decode()))
    import zlib
    about = json.loads(zlib.decompress(base64.b64decode(blocks["model"]), -15))
    expect(about["rows"] == sum(1 for line in open(table)) - 2 and "set l=0.8" in about["provenance"], f"rows of a result: {about['rows']}")
    w = Socket(v)
    expect(w.status == 404, f"a result has no session: {w.status}")
    w.close()
    expect(v.end() == 0, "Ctrl-C of a result")
    text = open(table).read()
    open(os.path.join(folder, "bare.csv"), "w").write(text.split("\n", 1)[1])
    expect("--model" in (refused(os.path.join(folder, "bare.csv")) or ""), "a result without a model is not refused")
    v = Server(os.path.join(folder, "bare.csv"), "--model", model)
    expect(v.get(f"/?token={v.token}")[0] == 200 and v.end() == 0, "a result with --model")
    open(os.path.join(folder, "other.csv"), "w").write(text.replace("q.theta", "q.phi"))
    expect("q.theta" in (refused(os.path.join(folder, "other.csv")) or ""), "a result of another model is not refused")
    open(os.path.join(folder, "gone.csv"), "w").write(text.replace("pendulum.xml", "nothing.xml"))
    expect("not there" in (refused(os.path.join(folder, "gone.csv")) or ""), "a result of a model that is gone is not refused")
    os.mkfifo(os.path.join(folder, "pipe.csv"))  # nobody writes to it
    expect("pipe" in (refused(os.path.join(folder, "pipe.csv")) or ""), "a pipe is not refused as a result")
    expect("No such file" in (refused(os.path.join(folder, "nowhere.csv")) or ""), "a result that is not there is not refused as that")
    open(os.path.join(folder, "nan.csv"), "w").write("t,q.theta\n0,nan\n1,inf\n")
    expect("no row" in (refused(os.path.join(folder, "nan.csv"), "--model", model) or ""), "a result without a position is not refused")
    rows = text.split("\n")
    rows[40], rows[41] = rows[41], rows[40]
    open(os.path.join(folder, "back.csv"), "w").write("\n".join(rows))
    expect("earlier than the row before" in (refused(os.path.join(folder, "back.csv")) or ""), "rows that go back in time are not refused")


def outcome(*arguments):
    """Of a result that may be refused: the rows of its page, or the words and the status of the refusal."""
    p = subprocess.Popen([sarrus, "view", *arguments, "--no-open", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    text = b""
    while b"}" not in text and (part := os.read(p.stdout.fileno(), 4096)):
        text += part
    blocks = None
    about = re.search(rb'"address": "(.*?)",\s*"port": (\d+)', text)
    if about:
        address, port = about[1].decode(), int(about[2])
        with socket.create_connection(("127.0.0.1", port), 20) as s:
            s.sendall(f"GET {address.split(str(port))[1]} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode())
            out = b""
            while part := s.recv(1 << 16):
                out += part
        blocks = dict(re.findall(r'id="sarrus-([a-z]+)">([A-Za-z0-9+/=]*)</script>', out.decode()))
        p.send_signal(signal.SIGINT)
    said = (text + p.stdout.read() + p.stderr.read()).decode(errors="replace")
    return blocks, p.wait(30), said


def ends_at_once():
    """While it writes the address, which nobody takes: its output is a pipe that is full."""
    taken, given = os.pipe()
    os.write(given, b"x" * (fcntl.fcntl(given, F_SETPIPE_SZ, 4096) - 20))
    p = subprocess.Popen([sarrus, "view", os.path.join(folder, "pendulum.xml"), "--no-open"], stdout=given, stderr=subprocess.DEVNULL)
    end = time.monotonic() + 30
    while len(os.listdir(f"/proc/{p.pid}/task")) < 2 and time.monotonic() < end:  # the server's threads
        time.sleep(0.05)
    time.sleep(0.5)
    p.send_signal(signal.SIGINT)
    expect(p.wait(30) >= 0, f"Ctrl-C while the address is written kills it: {p.returncode}")  # 1: the address was not written
    os.close(taken)
    os.close(given)


def damaged(name, data):
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(data)
    return path


def formats():
    """Every format that `run` writes, whole, cut and mangled."""
    model, rng = os.path.join(folder, "pendulum.xml"), random.Random(5)
    paths = [os.path.join(folder, f"all.{suffix}") for suffix in ("csv", "h5", "hdf5", "txt")]
    written = []
    for path in paths:
        p = subprocess.run([sarrus, "run", model, "--t-end", "0.5", "--out", path, "--quiet"], capture_output=True)
        if p.returncode == 0:
            written.append(path)
        else:
            expect(b"libhdf5" in p.stderr, f"{path} is not written: {p.stderr.decode()}")
    poses = set()
    for path in written:
        if path.endswith(".txt"):  # its name does not say that it is a table of results
            continue
        blocks, status, said = outcome(path, "--model", model)
        expect(blocks is not None and status == 0, f"{path}: {status} {said}")
        poses.add((blocks or {}).get("poses"))
        if path.endswith(".hdf5"):
            continue
        data = open(path, "rb").read()
        cuts = [0, 8, 600, len(data) // 2, len(data) - 1]
        parts = [data[:n] for n in cuts]
        for _ in range(3):
            bad = bytearray(data)
            for _ in range(rng.randint(1, 30)):
                bad[rng.randrange(min(len(bad), 4096))] = rng.randrange(256)
            parts.append(bytes(bad))
        for i, part in enumerate(parts + [b"\x89HDF\r\n\x1a\n" + bytes(300), b"t,q.theta\n" + b"9" * 100000, b"t,q.theta\n0,nan\n1,inf\n", b"\0" * 2000]):
            blocks, status, said = outcome(damaged("damaged" + os.path.splitext(path)[1], part), "--model", model)
            if blocks is None:
                expect(status == 2 and said.strip() and "damaged" in said, f"{os.path.basename(path)}, damage {i}: status {status}: {said}")
            else:
                expect(status == 0, f"{os.path.basename(path)}, damage {i}, is shown: status {status}: {said}")
    expect(len(poses) == 1 and None not in poses, "the formats show different motions")
    swapped = damaged("swapped.csv", open(written[-2], "rb").read())  # recognized by what is in it
    expect(outcome(swapped, "--model", model)[0] is not None, "the kind of a table is taken from its name")


v = Server(os.path.join(folder, "pendulum.xml"))
parts = (who_may_ask, sessions, noise, slow_clients, leaves, ends)
for part in parts:
    begin = time.monotonic()
    part(v)
    if os.environ.get("TIMES"):
        print(f"{part.__name__} {time.monotonic() - begin:.1f} s")
results()
ends_at_once()
formats()
if faults:
    print(f"FAILED view: {len(faults)} faults")
    raise SystemExit(1)
print("ok view")
