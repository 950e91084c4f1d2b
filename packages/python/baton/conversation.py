"""A ``baton policy ask`` that runs for as long as its environment: one JSON document per line."""

from __future__ import annotations

import json
import subprocess
import tempfile

from .program import BatonError, arguments, cannot_run, failure, program_path


class Conversation:
    """Starts the program and answers its questions. Raises BatonError when it fails."""

    def __init__(self, kind: str, flags: dict, baton_bin: str | None):
        command = [program_path(baton_bin), "policy", "ask", f"--kind={kind}", *arguments(flags)]
        # A file, because an unread pipe fills up.
        self._stderr = tempfile.TemporaryFile("w+")
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": self._stderr}
        try:
            self._process = subprocess.Popen(command, text=True, **pipes)
        except OSError as error:
            raise cannot_run(command, error) from error
        #: The kind of decision, and the number of engines.
        self.ready: dict = self._first()["ready"]

    def ask(self, message: dict) -> dict:
        """Sends one message and returns the next question, or the result of the run."""
        try:
            self._process.stdin.write(f"{json.dumps(message)}\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            # The program has ended; stderr has its error.
            pass
        return self._hear()

    def close(self) -> None:
        """Ends the program; a second call does nothing."""
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()
        try:
            self._process.stdin.close()
        except BrokenPipeError:
            pass
        self._stderr.close()

    def _first(self) -> dict:
        try:
            return self._hear()
        except BatonError:
            self.close()
            raise

    def _hear(self) -> dict:
        line = self._process.stdout.readline()
        if line:
            return json.loads(line)
        exit_code = self._process.wait()
        self._stderr.seek(0)
        raise failure(self._stderr.read(), exit_code)
