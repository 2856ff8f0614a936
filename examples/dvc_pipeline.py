"""Run a DVC pipeline whose metrics and plots come from ndcg-track, in a temporary folder; needs git and dvc."""

import os
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

PIPELINE = """\
stages:
  track:
    cmd: >-
      ndcg-track ingest run.csv --labels labels.csv --name "run-$(sha256sum run.csv | cut -c1-8)"
      --metric ndcg@10 --metric RR --metrics-json metrics.json &&
      ndcg-track evaluate run.csv --labels labels.csv --per-group --format csv > groups.csv
    deps: [run.csv, labels.csv]
    metrics: [metrics.json: {cache: false}]
    plots: [groups.csv: {cache: false, x: group, y: ndcg@10, template: bar_horizontal}]
"""
LABELS = "group,item,label\ntent,a,3\ntent,b,0\nlamp,c,1\nlamp,d,2\n"
FIRST_RUN = "group,item,score\ntent,b,9\ntent,a,8\nlamp,c,7\nlamp,d,6\n"
QUIET = {"DVC_NO_ANALYTICS": "1", "GIT_AUTHOR_NAME": "you", "GIT_AUTHOR_EMAIL": "you@example.org"}
QUIET |= {"GIT_COMMITTER_NAME": "you", "GIT_COMMITTER_EMAIL": "you@example.org"}

with TemporaryDirectory() as folder:

    def shell(command: str) -> str:
        return subprocess.check_output(command, shell=True, cwd=folder, text=True, env={**os.environ, **QUIET})

    shell("git init -q && dvc init -q && dvc config core.analytics false && dvc config core.check_update false")
    Path(folder, ".gitignore").write_text("ndcg-track.db*\n")
    Path(folder, "dvc.yaml").write_text(PIPELINE)
    Path(folder, "labels.csv").write_text(LABELS)
    Path(folder, "run.csv").write_text(FIRST_RUN)
    shell("dvc repro -q && git add . && git commit -q -m first")
    Path(folder, "run.csv").write_text(FIRST_RUN.replace("b,9", "b,1"))  # moves the item of grade 0 down
    shell("dvc repro -q && git add . && git commit -q -m second")
    print(shell("dvc metrics diff HEAD~1 HEAD"))
    print(shell("ndcg-track history"))
