"""Datasette with the views described, the tables hidden, and saved queries; needs datasette, and starts no server."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

from datasette.app import Datasette

import ndcg_tracker as nt
from ndcg_tracker.integrations.datasette import datasette_metadata

GROUPS = [f"query {number}" for number in range(1, 7) for _ in range(2)]
SHOP = {"group": GROUPS, "item": ["a", "b"] * 6, "label": [2, 1] * 6}


async def main(database: Path) -> None:
    datasette = Datasette([str(database)], metadata=datasette_metadata(database))
    shown = (await datasette.client.get("/shop.json")).json()
    print("tables:", [table["name"] for table in shown["tables"] if not table["hidden"]])
    print("views:", sorted(view["name"] for view in shown["views"]))
    for query in shown["queries"]:
        print(f"query: {query['title']} ({', '.join(query['params'])})")
    url = "/shop/regressions.json?_shape=array&dataset=shop&baseline=old&candidate=new"
    for row in (await datasette.client.get(url)).json():
        print(f"{row['group_key']}: {row['baseline_value']:.4f} -> {row['candidate_value']:.4f}")


with TemporaryDirectory() as folder:
    with nt.Tracker(Path(folder, "shop.db")) as tracker:
        tracker.ingest({**SHOP, "score": [2.0, 1.0] * 6}, name="old", dataset="shop")
        tracker.ingest({**SHOP, "score": [1.0, 2.0] * 2 + [2.0, 1.0] * 4}, name="new", dataset="shop")
    asyncio.run(main(Path(folder, "shop.db")))
    # On the command line: ndcg-track --db shop.db db datasette -o metadata.json && datasette shop.db -m metadata.json
