#!/usr/bin/env python3
"""delaying_proxy.py LISTEN SERVER DELAY_FILE: passes a unix socket on to another one, each piece as late as the file says (seconds)."""
import socket
import sys
import threading
import time

listen, server, delay_file = sys.argv[1:]


def pass_on(source, target):
    try:
        while piece := source.recv(65536):
            with open(delay_file, encoding="ascii") as file:
                time.sleep(float(file.read() or 0))
            target.sendall(piece)
    except OSError:
        pass
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


listener = socket.socket(socket.AF_UNIX)
listener.bind(listen)
listener.listen(64)
while True:
    client, _ = listener.accept()
    behind = socket.socket(socket.AF_UNIX)
    try:
        behind.connect(server)
    except OSError:
        client.close()
        continue
    for ends in ((client, behind), (behind, client)):
        threading.Thread(target=pass_on, args=ends, daemon=True).start()
