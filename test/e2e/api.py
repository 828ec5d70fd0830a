# SPDX-License-Identifier: Apache-2.0
# Copyright The maar Authors
"""A small Kubernetes API client for the e2e programs: Python's standard library and kubectl, which
reads the kubeconfig. One Client per thread; a Client keeps one connection."""

import base64
import http.client
import json
import os
import socket
import ssl
import subprocess
import tempfile
import time
import urllib.parse

MERGE = "application/merge-patch+json"
STRATEGIC_MERGE = "application/strategic-merge-patch+json"


class ApiError(Exception):
    """The server's answer to a request that failed: .code and .message."""

    def __init__(self, code, message):
        super().__init__(f"{code} {message}")
        self.code = code
        self.message = message


class Config:
    """Server address and credentials from the current context of a kubeconfig."""

    def __init__(self, kubeconfig):
        text = subprocess.run(
            ["kubectl", "config", "view", "--raw", "--flatten", "--minify", "-o", "json",
             "--kubeconfig", kubeconfig], check=True, capture_output=True, text=True).stdout
        config = json.loads(text)
        cluster = config["clusters"][0]["cluster"]
        user = config["users"][0]["user"]
        self.url = urllib.parse.urlsplit(cluster["server"])
        self.tls = None
        if self.url.scheme == "https":
            authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
            self.tls = ssl.create_default_context(cadata=authority)
            if "client-certificate-data" in user:
                self._load_client_certificate(user)
        self.token = user.get("token")
        if "tokenFile" in user:
            with open(user["tokenFile"], encoding="ascii") as file:
                self.token = file.read().strip()

    def _load_client_certificate(self, user):
        # The ssl module loads certificates from files only.
        with tempfile.NamedTemporaryFile(prefix="maar-e2e-") as file:
            os.fchmod(file.fileno(), 0o600)
            for key in ("client-certificate-data", "client-key-data"):
                file.write(base64.b64decode(user[key]) + b"\n")
            file.flush()
            self.tls.load_cert_chain(file.name)


class Client:
    def __init__(self, config):
        self._config = config
        self._connection = None

    def _connect(self, timeout):
        url = self._config.url
        if self._config.tls:
            connection = http.client.HTTPSConnection(
                url.hostname, url.port, context=self._config.tls, timeout=timeout)
        else:
            connection = http.client.HTTPConnection(url.hostname, url.port, timeout=timeout)
        connection.connect()
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def _headers(self, content_type, accept="application/json"):
        headers = {"Accept": accept}
        if content_type:
            headers["Content-Type"] = content_type
        if self._config.token:
            headers["Authorization"] = "Bearer " + self._config.token
        return headers

    def send(self, method, path, body=None, content_type="application/json"):
        """Returns (status, headers, bytes); connects again once when the connection was closed."""
        data = None if body is None else json.dumps(body).encode()
        headers = self._headers(content_type if data else None)
        while True:
            fresh = self._connection is None
            try:
                if fresh:
                    self._connection = self._connect(60)
                self._connection.request(method, path, data, headers)
                response = self._connection.getresponse()
                return response.status, response.headers, response.read()
            except (OSError, http.client.HTTPException):
                self.close()
                if fresh:
                    raise

    def request(self, method, path, body=None, content_type="application/json"):
        """Returns the decoded answer; waits and sends again after 429 and 503."""
        while True:
            status, headers, data = self.send(method, path, body, content_type)
            if status not in (429, 503):
                break
            time.sleep(float(headers.get("Retry-After", 1)))
        if status >= 400:
            try:
                message = json.loads(data)["message"]
            except (ValueError, KeyError, TypeError):
                message = data.decode(errors="replace")
            raise ApiError(status, message)
        return json.loads(data) if data else None

    def get(self, path):
        return self.request("GET", path)

    def watch(self, path, version, query="", accept="application/json"):
        """Yields (type, object) from that version on until the server ends the watch."""
        connection = self._connect(None)
        try:
            connection.request("GET", f"{path}?watch=true&resourceVersion={version}{query}",
                               headers=self._headers(None, accept))
            response = connection.getresponse()
            if response.status != 200:
                raise ApiError(response.status, response.read().decode(errors="replace"))
            while line := response.readline():
                event = json.loads(line)
                if event["type"] == "ERROR":
                    raise ApiError(event["object"].get("code", 500), event["object"].get("message"))
                yield event["type"], event["object"]
        finally:
            connection.close()

    def close(self):
        if self._connection:
            self._connection.close()
            self._connection = None


def follow(client, path, query, on_object, on_listed):
    """Lists path, then watches it for ever, and lists again when the watch is lost. on_object takes
    (type, object), on_listed nothing."""
    while True:
        try:
            listing = client.get(f"{path}?resourceVersion=0{query}")
            for item in listing["items"]:
                on_object("ADDED", item)
            on_listed()
            version = listing["metadata"]["resourceVersion"]
            while True:
                for kind, item in client.watch(path, version, "&allowWatchBookmarks=true" + query):
                    version = item["metadata"]["resourceVersion"]
                    if kind != "BOOKMARK":
                        on_object(kind, item)
        except (OSError, http.client.HTTPException, ApiError, ValueError):
            time.sleep(0.2)
