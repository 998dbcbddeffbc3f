"""What the methods of the literature, ``indicator`` and ``benders``, are made of."""
