# needs: ir-measures==0.4.3
"""Print what gdeval.pl, as ir_measures packs it, prints for every case; it needs perl."""

from __future__ import annotations

import pkgutil
import subprocess
import tempfile
from pathlib import Path

from cases import CASES, line


def main() -> None:
    """Print the values of every case."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "gdeval.pl").write_bytes(pkgutil.get_data("ir_measures", "bin/gdeval.pl") or b"")
        for case in CASES:
            run = [f"{q[1:]} Q0 {item} 0 {score} run" for q, items in case.run.items() for item, score in items.items()]
            qrels = [f"{q[1:]} 0 {item} {grade:.0f}" for q, pool in case.labels.items() for item, grade in pool.items()]
            (folder / "run").write_text("\n".join(run) + "\n")
            (folder / "qrels").write_text("\n".join(qrels) + "\n")
            for k in (1, 3, 10):
                command = ["perl", folder / "gdeval.pl", folder / "qrels", folder / "run", str(k)]
                rows = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[1:]
                values = [row.split(",") for row in rows]
                for place, text in ((2, "ndcg"), (3, "err")):
                    found = {f"u{int(row[1]):02}": float(row[place]) for row in values if row[1].isdigit()}
                    print(line(case, f"gdeval:{text}@{k}", None, {q: found[q] for q in found if q in case.labels}))


if __name__ == "__main__":
    main()
