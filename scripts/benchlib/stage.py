"""The stage every verb plays on: a lab of its own and the product installed in it, with the lab's subscription imported."""

import contextlib
import os

from lablib.lab import Lab
from lablib.product import Product


@contextlib.contextmanager
def raised(name, imported=True):
    """A lab and the product in it; both are gone afterwards, however the block ends."""
    lab = Lab.up(name, owner=os.getpid())
    product = None
    try:
        product = Product(lab)
        product.start()
        if imported:
            product.controller("import", lab.subscription)
        yield lab, product
    finally:
        if product:
            product.stop()
        lab.down()
