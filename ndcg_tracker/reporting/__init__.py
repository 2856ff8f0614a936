"""What the other layers return, as text, JSON, Markdown and CSV; it formats and computes nothing."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
