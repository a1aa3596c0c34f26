"""The search over orders with any score that is a sum over nodes: environments, categories, mixed tables."""
