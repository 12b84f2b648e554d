"""An HTTP/2 server that misbehaves as it is asked: the first part of a path names what is done to the request.

Arguments: the certificate chain and the key, PEM. It listens on descriptor 3 and ends with its standard input.
The second part of a path is a name of the test's choice; `/log/NAME` says as JSON what happened under that name.
"""

import json
import os
import select
import socket
import ssl
import struct
import sys
import threading

import h2.config
import h2.connection
import h2.events
import h2.exceptions
from hyperframe import frame

NO_ERROR, PROTOCOL_ERROR, INTERNAL_ERROR = 0, 1, 2
REFUSED_STREAM, CANCEL, ENHANCE_YOUR_CALM = 7, 8, 11
INITIAL_WINDOW_SIZE = 4
# A flood ends here when the client bears it: far above what any client should.
FLOOD = 64 << 20

# What large bodies consist of, so that each byte tells where it belongs.
LETTERS = bytes(range(251))
PIECE = LETTERS * (16384 // len(LETTERS) + 2)

lock = threading.Lock()
logs = {}


def note(name, **counts):
    """Adds to what is counted under a name; returns what was there before."""
    with lock:
        log = logs.setdefault(name, {"arrived": 0, "executed": 0, "posts": 0, "sent": 0, "received": 0})
        before = dict(log)
        for key, count in counts.items():
            log[key] += count
        return before


class Gone(Exception):
    """The connection is to be closed."""


class Connection:
    """One connection; its thread reads, and answers as the paths say."""

    def __init__(self, wire):
        self.wire = wire
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        # Of each stream: the fault, the name and whether it is a POST.
        self.streams = {}
        # The last stream that is looked at, once GOAWAY has said so.
        self.last = None
        # What is done when the client has read all that was sent so far.
        self.later = []
        # Bodies that are being sent: of each stream the name, the bytes sent and those to send.
        self.pours = {}

    def run(self):
        self.h2.initiate_connection()
        self.flush()
        while True:
            if self.pour() and not self.is_readable():
                continue
            data = self.wire.recv(65536)
            if not data:
                return
            for event in self.h2.receive_data(data):
                self.handle(event)
            self.flush()

    def is_readable(self):
        return self.wire.pending() or select.select([self.wire], [], [], 0)[0]

    def pour(self):
        """Sends a piece of each body as far as the client's windows go; returns whether anything could be sent."""
        has_sent = False
        for stream, (name, sent, size) in list(self.pours.items()):
            if "behind" in name and sent == 0 and all(other[1] < 1 << 20 for other in self.pours.values()):
                continue
            count = min(16384, size - sent, self.h2.local_flow_control_window(stream))
            if count <= 0:
                continue
            has_sent = True
            at = sent % len(LETTERS)
            is_last = sent + count == size
            self.h2.send_data(stream, PIECE[at : at + count], end_stream=is_last and "closing" not in name)
            self.pours[stream] = (name, sent + count, size)
            note(name, sent=count)
            if is_last:
                del self.pours[stream]
                if "closing" in name:
                    self.flush()
                    raise Gone()
            self.flush()
        return has_sent

    def flush(self):
        self.write(self.h2.data_to_send())

    def write(self, data):
        if data:
            self.wire.sendall(data)

    def frames(self, *frames):
        self.flush()
        self.write(b"".join(item.serialize() for item in frames))

    def handle(self, event):
        stream = getattr(event, "stream_id", None)
        if self.last is not None and stream is not None and stream > self.last:
            # GOAWAY has said that such streams are not looked at.
            return
        if isinstance(event, h2.events.StreamReset):
            self.pours.pop(stream, None)
        elif isinstance(event, h2.events.RequestReceived):
            fields = dict(event.headers)
            fault, name = fields[":path"].split("/")[1:3]
            self.streams[stream] = (fault, name, fields[":method"] == "POST")
            count = note(name, arrived=1)["arrived"] if fault != "log" else 0
            action = getattr(self, "head_" + fault.replace("-", "_"), None)
            if action:
                action(stream, name, count)
        elif isinstance(event, h2.events.DataReceived):
            fault, name, _ = self.streams[stream]
            note(name, received=len(event.data))
            if fault != "stall":
                self.h2.acknowledge_received_data(event.flow_controlled_length, stream)
        elif isinstance(event, h2.events.StreamEnded):
            fault, name, is_post = self.streams[stream]
            action = getattr(self, "do_" + fault.replace("-", "_"), None)
            if action is None:
                return
            if fault != "log":
                note(name, executed=1, posts=int(is_post))
            action(stream, name)
        elif isinstance(event, h2.events.PingAckReceived) and self.later:
            self.later.pop(0)()

    def when_read(self, action):
        """Does something when the client has read what was sent so far: it acknowledges a ping behind it."""
        self.later.append(action)
        self.frames(frame.PingFrame(0, b"are you?"))

    # What is sent.

    def head(self, stream, *fields, end=False, status="200"):
        start = [(":status", status)] if status else []
        block = self.h2.encoder.encode(start + list(fields))
        pieces = [block[at : at + 16384] for at in range(0, len(block), 16384)] or [b""]
        item = frame.HeadersFrame(stream, pieces[0])
        if end:
            item.flags.add("END_STREAM")
        items = [item] + [frame.ContinuationFrame(stream, piece) for piece in pieces[1:]]
        items[-1].flags.add("END_HEADERS")
        return items

    def data(self, stream, text, end=False):
        item = frame.DataFrame(stream, text.encode() if isinstance(text, str) else text)
        if end:
            item.flags.add("END_STREAM")
        return item

    def answer(self, stream, text="hello", kind="text/plain"):
        return self.head(stream, ("content-type", kind), ("content-length", str(len(text)))) + [
            self.data(stream, text, end=True)
        ]

    def reset(self, stream, code):
        return frame.RstStreamFrame(stream, error_code=code)

    def goaway(self, last, code=NO_ERROR):
        return frame.GoAwayFrame(0, last_stream_id=last, error_code=code)

    def flood(self, name, items):
        """Sends the same frames until the client has enough."""
        self.flush()
        data = b"".join(item.serialize() for item in items)
        data *= max(1, 16384 // len(data))
        sent = 0
        while sent < FLOOD:
            self.write(data)
            sent += len(data)
            note(name, sent=len(data))
        raise Gone()

    # In good order.

    def do_ok(self, stream, name):
        self.frames(*self.answer(stream))

    def do_pour(self, stream, name):
        # The name begins with the length; with "closing" in it the connection ends before the last byte.
        size = int(name.split("-")[0])
        self.h2.send_headers(stream, [(":status", "200"), ("content-length", str(size + ("closing" in name)))])
        self.pours[stream] = (name, 0, size)

    def do_log(self, stream, name):
        self.frames(*self.answer(stream, json.dumps(note(name)), "application/json"))

    # Refused before it is looked at.

    def head_refused(self, stream, name, count):
        self.frames(self.reset(stream, REFUSED_STREAM))

    def head_refused_once(self, stream, name, count):
        if count == 0:
            self.frames(self.reset(stream, REFUSED_STREAM))
        else:
            self.streams[stream] = ("ok",) + self.streams[stream][1:]

    def head_goaway_early(self, stream, name, count):
        self.last = stream - 2 if stream > 1 else 0
        self.frames(self.goaway(self.last))
        raise Gone()

    def head_goaway_early_once(self, stream, name, count):
        if count == 0:
            self.head_goaway_early(stream, name, count)
        self.streams[stream] = ("ok",) + self.streams[stream][1:]

    def head_goaway_calm(self, stream, name, count):
        self.frames(self.goaway(0, ENHANCE_YOUR_CALM))
        raise Gone()

    # Executed, and then the connection is given up.

    def do_goaway_late(self, stream, name):
        self.last = stream
        self.frames(*self.answer(stream), self.goaway(stream))

    def do_goaway_late_closing(self, stream, name):
        self.frames(*self.answer(stream), self.goaway(stream))
        raise Gone()

    def do_goaway_graceful(self, stream, name):
        self.frames(self.goaway(2**31 - 1))
        self.last = stream
        self.frames(*self.answer(stream), self.goaway(stream))
        raise Gone()

    def do_goaway_unanswered(self, stream, name):
        self.frames(self.goaway(stream))
        raise Gone()

    def do_goaway_error(self, stream, name):
        self.frames(self.goaway(stream, INTERNAL_ERROR))
        raise Gone()

    def do_goaway_in_body(self, stream, name):
        self.frames(*self.head(stream, ("content-length", "10")), self.data(stream, "hello"))

        def leave():
            self.frames(self.goaway(0, PROTOCOL_ERROR))
            raise Gone()

        self.when_read(leave)

    # Executed, and then the stream is given up.

    def do_rst(self, stream, name):
        self.frames(self.reset(stream, INTERNAL_ERROR))

    def do_rst_cancel(self, stream, name):
        self.frames(self.reset(stream, CANCEL))

    def do_rst_no_error(self, stream, name):
        self.frames(self.reset(stream, NO_ERROR))

    def do_rst_refused_after(self, stream, name):
        # A lie: it was executed.
        self.frames(self.reset(stream, REFUSED_STREAM))

    def do_rst_in_body(self, stream, name):
        self.frames(*self.head(stream), self.data(stream, "hello"))
        self.when_read(lambda: self.frames(self.reset(stream, INTERNAL_ERROR)))

    def do_half_reset(self, stream, name):
        self.early(stream, NO_ERROR, *self.head(stream, ("content-length", "10")), self.data(stream, "hello"))

    def do_rst_behind(self, stream, name):
        self.frames(*self.answer(stream), self.reset(stream, NO_ERROR))

    # Answered before the whole body is there.

    def head_early(self, stream, name, count):
        # The answer is there before the body, and the rest of the body is not wanted (RFC 9113, section 8.1).
        note(name, executed=1, posts=int(self.streams[stream][2]))
        self.frames(*self.answer(stream), self.reset(stream, NO_ERROR))

    def head_early_apart(self, stream, name, count):
        # The same, and the client has the answer before the reset comes.
        note(name, executed=1, posts=int(self.streams[stream][2]))
        self.early(stream, NO_ERROR, *self.answer(stream))

    def head_early_half(self, stream, name, count):
        self.early(stream, NO_ERROR, *self.head(stream, ("content-length", "10")), self.data(stream, "hello"))

    def head_early_broken(self, stream, name, count):
        self.early(stream, INTERNAL_ERROR, *self.answer(stream))

    def head_early_unsized(self, stream, name, count):
        self.early(stream, NO_ERROR, *self.head(stream), self.data(stream, "hello", end=True))

    def early(self, stream, code, *frames):
        self.streams[stream] = ("stall",) + self.streams[stream][1:]
        self.frames(*frames)
        self.when_read(lambda: self.frames(self.reset(stream, code)))

    def head_answer_first(self, stream, name, count):
        # The rest of the body is read all the same.
        self.frames(*self.answer(stream))

    # Windows.

    def do_window_zero(self, stream, name):
        # Whoever uploads on this connection from now on may not send a byte.
        self.h2.update_settings({INITIAL_WINDOW_SIZE: 0})
        self.frames(*self.answer(stream))

    def do_stall(self, stream, name):
        # Reached by small uploads only: the first 65,535 bytes need no window.
        self.frames(*self.answer(stream))

    def do_window_overflow(self, stream, name):
        update = frame.WindowUpdateFrame(0, window_increment=2**31 - 1)
        self.frames(update, update)

    # Answers that are none.

    def do_silence(self, stream, name):
        pass

    def do_close(self, stream, name):
        raise Gone()

    def do_abort(self, stream, name):
        self.flush()
        self.wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.wire.close()
        raise OSError()

    def do_tls_alert(self, stream, name):
        # A fatal alert without encryption, which a client must take for damage.
        os.write(self.wire.fileno(), bytes([21, 3, 3, 0, 2, 2, 80]))
        raise Gone()

    def do_garbage(self, stream, name):
        self.flush()
        self.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
        raise Gone()

    def do_half_frame(self, stream, name):
        self.flush()
        self.write(b"".join(item.serialize() for item in self.answer(stream))[:12])
        raise Gone()

    def do_giant_frame(self, stream, name):
        # Sixteen megabytes where sixteen kibibytes are allowed.
        self.flush()
        self.write(b"\xff\xff\xff\x00\x00" + struct.pack(">I", stream) + bytes(1024))
        raise Gone()

    def do_broken_fields(self, stream, name):
        item = frame.HeadersFrame(stream, b"\xff\xff\xff\xff\xff\xff")
        item.flags.add("END_HEADERS")
        self.frames(item)

    def do_no_status(self, stream, name):
        self.frames(*self.head(stream, ("content-length", "5"), status=""), self.data(stream, "hello", end=True))

    def do_two_statuses(self, stream, name):
        self.frames(*self.head(stream, (":status", "404")), self.data(stream, "hello", end=True))

    def do_wrong_status(self, stream, name):
        self.frames(*self.head(stream, status="abc"), self.data(stream, "hello", end=True))

    def do_upper_case(self, stream, name):
        self.frames(*self.head(stream, ("X-Upper", "1")), self.data(stream, "hello", end=True))

    def do_connection_field(self, stream, name):
        self.frames(*self.head(stream, ("connection", "close")), self.data(stream, "hello", end=True))

    def do_two_lengths(self, stream, name):
        self.frames(
            *self.head(stream, ("content-length", "5"), ("content-length", "6")), self.data(stream, "hello", end=True)
        )

    def do_short_body(self, stream, name):
        self.frames(*self.head(stream, ("content-length", "10")), self.data(stream, "hell"))
        self.when_read(lambda: self.frames(self.data(stream, "o", end=True)))

    def do_long_body(self, stream, name):
        self.frames(*self.head(stream, ("content-length", "3")), self.data(stream, "h"))
        self.when_read(lambda: self.frames(self.data(stream, "ello", end=True)))

    def do_body_without_head(self, stream, name):
        self.frames(self.data(stream, "hello", end=True))

    def do_wrong_stream(self, stream, name):
        self.frames(*self.head(stream + 100), self.data(stream + 100, "hello", end=True))

    def do_push(self, stream, name):
        block = self.h2.encoder.encode([(":method", "GET"), (":scheme", "https"), (":authority", "localhost"), (":path", "/")])
        item = frame.PushPromiseFrame(stream, promised_stream_id=2, data=block)
        item.flags.add("END_HEADERS")
        self.frames(item)

    def do_no_content(self, stream, name):
        self.frames(*self.head(stream, ("content-length", "5"), status="204"), self.data(stream, "hello", end=True))

    def do_slow_head(self, stream, name):
        items = self.head(stream, ("x-slow", "s" * 40000))
        self.frames(items[0])

    def do_slow_body(self, stream, name):
        self.frames(*self.head(stream, ("content-length", "10")), self.data(stream, "hello"))

    # Odd, with one right reading.

    def do_byte_by_byte(self, stream, name):
        self.flush()
        end = [self.data(stream, letter) for letter in "hello"] + [self.data(stream, "", end=True)]
        for item in self.head(stream) + end:
            for byte in item.serialize():
                self.write(bytes([byte]))

    def do_interim(self, stream, name):
        early = self.head(stream, ("link", "</a>"), status="103")
        self.frames(*early, *early, *early, *self.answer(stream))

    def do_trailers(self, stream, name):
        self.frames(*self.head(stream), self.data(stream, "hello"), *self.head(stream, ("x-trailer", "1"), end=True, status=""))

    def do_unknown_frame(self, stream, name):
        self.flush()
        self.write(b"\x00\x00\x04\xee\x00\x00\x00\x00\x00what")
        self.frames(*self.answer(stream))

    # Without end.

    def do_redirect(self, stream, name):
        self.frames(*self.head(stream, ("location", "/redirect/" + name), end=True, status="302"))

    def do_interim_flood(self, stream, name):
        self.flood(name, self.head(stream, ("link", "</a>"), status="103"))

    def do_giant_field(self, stream, name):
        first = frame.HeadersFrame(stream, self.h2.encoder.encode([(":status", "200")]))
        self.frames(first)
        self.flood(name, [frame.ContinuationFrame(stream, b"\x00\x01a\x7f\x81\x7e" + b"b" * 16256)])

    def do_endless_continuation(self, stream, name):
        self.frames(frame.HeadersFrame(stream, self.h2.encoder.encode([(":status", "200")])))
        self.flood(name, [frame.ContinuationFrame(stream, b"")])

    def do_many_fields(self, stream, name):
        self.frames(*self.head(stream, *(("x-%d" % number, "v" * 100) for number in range(20000))))
        self.frames(self.data(stream, "hello", end=True))

    def do_ping_flood(self, stream, name):
        self.flood(name, [frame.PingFrame(0, b"12345678")])

    def do_settings_flood(self, stream, name):
        self.flood(name, [frame.SettingsFrame(0, settings={INITIAL_WINDOW_SIZE: 65535})])

    def do_empty_data_flood(self, stream, name):
        self.frames(*self.head(stream))
        self.flood(name, [self.data(stream, "")])


def serve(plain, context):
    plain.settimeout(60)
    try:
        with context.wrap_socket(plain, server_side=True) as wire:
            try:
                Connection(wire).run()
            except (Gone, h2.exceptions.ProtocolError):
                pass
            end(wire)
    except OSError:
        pass


def end(wire):
    """Ends our direction and reads what still comes, since a reset would take our last bytes from the client."""
    descriptor = wire.fileno()
    socket.socket.shutdown(wire, socket.SHUT_WR)
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    while poll.poll(1000) and os.read(descriptor, 65536):
        pass


def wait_for_end():
    while os.read(0, 1):
        pass
    os._exit(0)


def main():
    threading.Thread(target=wait_for_end, daemon=True).start()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    context.set_alpn_protocols(["h2"])
    listener = socket.socket(fileno=3)
    while True:
        plain, _ = listener.accept()
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=serve, args=(plain, context), daemon=True).start()


main()
