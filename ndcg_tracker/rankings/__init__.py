"""Rankings and labels as columns: the one form in which data passes between the layers."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
