"""What a series changes of its upstream: counted, grouped, and what a reviewer asks for."""
