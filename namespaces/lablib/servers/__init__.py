"""The servers the lab's hosts run: names, pages, echoes."""
