"""The thin edges: the socket server, the in-process transports, the runs over them."""
