"""The leak table: probes that keep sending, a judge that reads what the router saw, and the states and events between them."""
