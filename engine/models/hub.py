"""A model file from the model hub. Owns: the hub's client library, which runs in a child process of its own.

The hub tells a file's SHA-256 before the download: another file than the pinned one is refused before it costs
anything. A hub that does not answer costs seconds, however the line fails.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import Final

from attrs import frozen

from engine.models.catalog import HubFile
from engine.models.child import ChildFailedError, run_child, size_under
from engine.models.progress import Progress
from engine.models.source import Job, SourceError

_ANSWER_S: Final = 12
"""For the first answer, name resolution and the library's import included."""
_STALL_S: Final = 60.0
_SETTINGS: Final = {
    "HF_HUB_DISABLE_XET": "1",  # plain HTTP: resumable, and no second cache in the user's home
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1",  # a public file: nobody's credentials are sent
}


@frozen
class HubSource:
    """The model hub."""

    file: HubFile

    @property
    def title(self) -> str:
        """Who is asked, in words."""
        return f"the model hub ({self.file.repo})"

    def fetch(self, job: Job) -> None:
        """Download it. Raises `SourceError`."""
        stage = "asking the model hub"
        job.on_progress(Progress(stage))
        folder = job.folder / "hub"
        folder.mkdir(exist_ok=True)
        command = [sys.executable, "-I", "-m", "engine.models.hub", self.file.repo, self.file.file, job.known.sha256]

        def on_tick() -> int:
            n_bytes = min(size_under(folder), job.known.n_bytes)
            if n_bytes > 1_000_000:  # more than the library's own small files
                job.on_progress(Progress("downloading from the model hub", n_bytes, job.known.n_bytes))
            return n_bytes

        try:
            run_child(command, folder, lock=job.lock, environment=_SETTINGS, on_tick=on_tick, stall_s=_STALL_S)
        except ChildFailedError as error:
            if error.code == -signal.SIGALRM:
                raise SourceError(f"the model hub did not answer within {_ANSWER_S} s") from None
            raise SourceError(str(error)) from None
        (folder / self.file.file).replace(job.target)


def _child(repo: str, file: str, sha256: str) -> None:
    signal.alarm(_ANSWER_S)  # its default action ends this process even inside a name look-up
    import huggingface_hub
    from huggingface_hub.errors import HfHubHTTPError

    try:
        url = huggingface_hub.hf_hub_url(repo, file)
        found = huggingface_hub.get_hf_file_metadata(url, timeout=5)
    except HfHubHTTPError as error:
        status = error.response.status_code if error.response is not None else "an error"
        sys.exit(f"the model hub answered {status} for {repo}")
    except Exception as error:  # every kind of broken line, from several libraries
        sys.exit(f"the model hub can't be reached ({type(error).__name__})")
    signal.alarm(0)
    if found.etag != sha256:
        sys.exit(f"the model hub has another file than the pinned one (SHA-256 {str(found.etag)[:12]}...)")
    try:
        huggingface_hub.hf_hub_download(repo, file, revision=found.commit_hash, local_dir=Path.cwd())
    except Exception as error:
        sys.exit(f"the download from the model hub broke off ({type(error).__name__})")


if __name__ == "__main__":
    _child(*sys.argv[1:])
