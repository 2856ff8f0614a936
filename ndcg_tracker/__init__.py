"""ndcg_tracker: every ranking run down to the single group in SQL, and what changed between two of them.

>>> import ndcg_tracker as nt
>>> str(nt.parse_metric("ndcg(gain=linear)@10"))
'ndcg@10'
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
