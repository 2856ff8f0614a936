from .evaluation import Evaluation, evaluate
from .tracker import Tracker

__all__ = ["Evaluation", "Tracker", "evaluate"]
