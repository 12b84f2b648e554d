# How gunicorn runs beside the tests: read with --config.
import logging
import os
import signal
import threading

# One process is enough; threads answer while others wait in /delay.
workers = 1
worker_class = "gthread"
threads = 16
# Longer than any pause of a busy machine: a POST that meets a closing connection fails, as it must.
keepalive = 300
# No test waits for a request that its client left.
graceful_timeout = 0
loglevel = "error"
# httpbin warns that it has no page for people.
logging.disable(logging.WARNING)
# It would be a file in the home folder.
control_socket_disable = True


def when_ready(server):
    """Ends gunicorn with the tests, however they end: they hold the other side of the standard input."""

    def wait():
        os.read(0, 1)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True).start()
