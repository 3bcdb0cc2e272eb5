"""The endpoints beside messages: batches, files, legacy completions.

Each is a class over a `ServiceFace` with one method, `handle(request) -> HttpResponse`.
"""
