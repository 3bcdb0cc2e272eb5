"""The thin edges: ASGI, the socket server, the in-process transports, the runs over them."""
