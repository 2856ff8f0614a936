"""Write the means of a training's runs as scalars: then tensorboard --logdir board shows the curve.

Run it after examples/lightgbm_training.py, or with the name of your training, if the database has one dataset:
python examples/tensorboard_scalars.py [TRAINING] (pip install tensorboardX)
"""

import sys

from tensorboardX import SummaryWriter

from ndcg_tracker import Tracker

training = sys.argv[1] if len(sys.argv) > 1 else "trees"
with Tracker() as tracker, SummaryWriter(f"board/{training}") as writer:
    for run in tracker.runs():
        if run.tags.get("training") != training:
            continue
        _, evaluations = tracker.run(run.name)
        for each in evaluations:
            name = each.metric.replace("@", "_at_")  # as in MLflow and W&B
            writer.add_scalar(name, each.mean, int(run.parameters["iteration"]))
            print(f"{name} at iteration {run.parameters['iteration']}: {each.mean:.4f}")
