"""Other ways to compute the numbers of the readable network, and the choice among them."""
