"""The model client for the Anthropic Messages API: the only importer of the SDK, and lazily.

The SDK carries a request's bytes and takes the stream's lines apart. Writing the request,
reading the reply, timing it and asking again are ours, so that what is sent is what was
recorded, a stalled stream ends, a wait is reported, and nothing that was shown is ever asked
for twice.
"""

from __future__ import annotations

import asyncio
import gc
import os
import re
import time
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mini_agent_core.anthropic_request import request_json
from mini_agent_core.anthropic_wire import ReplyReader, one_line
from mini_agent_core.errors import (
    ConfigurationError,
    ModelConnectionError,
    ModelError,
    ModelRequestError,
    ProtocolBreach,
    TruncatedReply,
)
from mini_agent_core.events import RetryScheduled
from mini_agent_core.json_text import parse_json
from mini_agent_core.redaction import Redactor
from mini_agent_core.retry import delay_before, may_pass

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence

    import anthropic
    import httpx2

    from mini_agent_core.events import ModelEvent
    from mini_agent_core.interfaces import ModelRequest

DEFAULT_MAX_TOKENS = 32_000
DEFAULT_MAX_RETRIES = 4
DEFAULT_IDLE_TIMEOUT = 120.0
DEFAULT_LONGEST_WAIT = 120.0
CONNECT_TIMEOUT = 10.0
DRAIN_TIMEOUT = 0.25
EVENT_STREAM = "text/event-stream"

_CLOSED = re.compile("closed connection|disconnected")


def preload() -> None:
    """Import the SDK, which takes a second or more; call it in a thread while the user types.

    The garbage collector rests meanwhile: it would search a hundred thousand new classes and
    functions for garbage again and again, and find none.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        import anthropic  # noqa: F401  # the one lazy import of the SDK
    finally:
        if was_enabled:
            gc.enable()


@dataclass(frozen=True, slots=True)
class _Failure:
    """A failed attempt: what it comes to, and whether and when another may be made."""

    error: ModelError
    may_pass: bool
    headers: Mapping[str, str] = field(default_factory=dict)


class AnthropicClient:
    """Streams replies from the Messages API (a ``ModelClient``).

    It belongs to one event loop. Close it with ``close`` when done.

    Args:
        model: the model's id.
        api_key: the credential. It appears in no error and no event.
        base_url: where the service is, without ``/v1``; None leaves it to the SDK, which looks
            at ``ANTHROPIC_BASE_URL`` and knows the usual place.
        max_tokens: the most a reply may hold, thinking included.
        max_retries: how often a request that may pass is asked again; 0 for never.
        idle_timeout: the longest silence of the connection, in seconds.
        longest_wait: a service that asks for a longer wait than this, in seconds, is not
            waited for: its error is raised.
        http_client: an ``httpx2.AsyncClient`` to use instead of the SDK's own.

    Raises:
        ConfigurationError: a value that cannot work.
    """

    def __init__(
        self,
        *,
        model: str,
        api_key: str,
        base_url: str | None = None,
        max_tokens: int = DEFAULT_MAX_TOKENS,
        max_retries: int = DEFAULT_MAX_RETRIES,
        idle_timeout: float = DEFAULT_IDLE_TIMEOUT,
        longest_wait: float = DEFAULT_LONGEST_WAIT,
        http_client: httpx2.AsyncClient | None = None,
    ) -> None:
        _check_settings(model, api_key, base_url, max_tokens, max_retries, idle_timeout)
        self._model = model
        self._api_key = api_key
        self._base_url = base_url
        self._max_tokens = max_tokens
        self._max_retries = max_retries
        self._idle_timeout = idle_timeout
        self._longest_wait = longest_wait
        self._http_client = http_client
        self._redact = Redactor((api_key,)).redact
        self._connecting: asyncio.Future[anthropic.AsyncAnthropic] | None = None

    @property
    def model(self) -> str:
        """The id of the model that is asked."""
        return self._model

    async def close(self) -> None:
        """Close the connections. The client can not be used afterwards."""
        if self._connecting is not None:
            with suppress(ConfigurationError):
                await (await self._connecting).close()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Yield one reply's events, asking again as long as nothing of it has been yielded.

        Raises:
            ConfigurationError: the SDK refuses the settings.
            ModelError: the reply could not be had, or breaks the protocol.
        """
        sdk = await self._connected()
        body = request_json(request, model=self._model, max_tokens=self._max_tokens)
        attempt = 1
        while True:
            yielded = False
            try:
                async with aclosing(self._attempt(sdk, body, attempt)) as events:
                    async for event in events:
                        yielded = True
                        yield event
                return
            except Exception as error:  # noqa: BLE001  # what is not the SDK's is raised again
                failure = self._failure(error)
            attempt += 1
            if yielded or not failure.may_pass or attempt > self._max_retries + 1:
                raise failure.error
            chance = os.urandom(1)[0] / 255  # spreads clients out; the random module costs 3 ms
            delay = delay_before(attempt, failure.headers, now=time.time(), chance=chance)
            if delay > self._longest_wait:
                raise _too_long_a_wait(failure.error, delay)
            yield RetryScheduled(str(failure.error), attempt, delay)
            await asyncio.sleep(delay)

    async def _attempt(
        self, sdk: anthropic.AsyncAnthropic, body: bytes, attempt: int
    ) -> AsyncGenerator[ModelEvent, None]:
        import anthropic  # loaded by now

        stream = await sdk.post(
            "/v1/messages",
            cast_to=object,
            content=body,
            options={"headers": {"x-stainless-retry-count": str(attempt - 1)}},
            stream=True,
            stream_cls=anthropic.AsyncStream[object],
        )
        reader = ReplyReader()
        completed: ModelEvent | None = None
        try:
            self._check_kind(stream.response.headers)
            lines = stream.raw_events(stream.response)
            async for line in lines:
                for event in _events_of(line.data, reader):
                    if reader.finished:
                        completed = event
                        break
                    yield event
                if completed is not None:
                    await _read_to_end(lines, reader)
                    break
        except ModelRequestError as error:
            error.request_id = error.request_id or stream.response.headers.get("request-id")
            raise
        finally:
            await stream.close()
        reader.finish()
        if completed is not None:
            yield completed

    def _check_kind(self, headers: Mapping[str, str]) -> None:
        """Refuse an answer that says it is something else: a proxy's page would only come again."""
        kind = headers.get("content-type", EVENT_STREAM)
        if not kind.startswith(EVENT_STREAM):
            found = one_line(kind)
            raise ModelConnectionError(
                f"{self._where} answered with {found}, not with a stream of events"
            )

    @property
    def _where(self) -> str:
        return _shown(self._base_url) if self._base_url else "the service"

    async def _connected(self) -> anthropic.AsyncAnthropic:
        """Return the SDK's client; many runs may ask for it at once, and one may give up."""
        if self._connecting is None:
            self._connecting = asyncio.ensure_future(asyncio.to_thread(self._connect))
        return await asyncio.shield(self._connecting)

    def _connect(self) -> anthropic.AsyncAnthropic:
        preload()
        import anthropic
        import httpx2  # comes with it

        timeout = httpx2.Timeout(
            self._idle_timeout, connect=min(CONNECT_TIMEOUT, self._idle_timeout)
        )
        try:
            return anthropic.AsyncAnthropic(
                api_key=self._api_key,
                base_url=self._base_url,
                max_retries=0,  # asking again is ours: the SDK would wait without a word
                timeout=timeout,
                http_client=self._http_client,
            )
        except (TypeError, ValueError, httpx2.InvalidURL) as error:
            raise ConfigurationError(self._redact(f"the model client: {error}")) from None

    def _failure(self, error: Exception) -> _Failure:
        """Say in our terms what went wrong. The key is nowhere in it, nor in what caused it."""
        import anthropic  # loaded by now
        import httpx2  # comes with it

        if isinstance(error, ModelError):
            error.args = (self._redact(str(error)),)
        if isinstance(error, ModelRequestError):
            return _Failure(error, may_pass(error.status or 200, error.error_type, {}))
        if isinstance(error, ModelError):
            return _Failure(error, may_pass=isinstance(error, TruncatedReply))
        if isinstance(error, anthropic.APIStatusError):
            return self._refusal(error)
        if isinstance(error, anthropic.APITimeoutError | httpx2.TimeoutException):
            silence = f"the service was silent for {self._idle_timeout:g} seconds"
            return _Failure(ModelConnectionError(silence), may_pass=True)
        if isinstance(error, anthropic.APIConnectionError | httpx2.HTTPError):
            causes = _causes(error)
            reason = self._redact(_reason(causes))
            lost = ModelConnectionError(f"the connection to {self._where} failed: {reason}")
            in_a_circle = isinstance(causes[0], httpx2.TooManyRedirects)
            return _Failure(lost, may_pass=not in_a_circle)
        if isinstance(error, UnicodeDecodeError):
            return _Failure(ProtocolBreach("a line of the stream is not UTF-8"), may_pass=False)
        raise error

    def _refusal(self, error: anthropic.APIStatusError) -> _Failure:
        status, kind = error.status_code, error.type
        text = self._redact(_message_of(error))
        message = f"the service answered {status}: {kind or 'error'}: {text}"
        refusal = ModelRequestError(
            message, status=status, error_type=kind, request_id=error.request_id
        )
        headers = error.response.headers
        return _Failure(refusal, may_pass(status, kind, headers), headers)


def _check_settings(
    model: str,
    api_key: str,
    base_url: str | None,
    max_tokens: int,
    max_retries: int,
    idle_timeout: float,
) -> None:
    if not model.strip():
        raise ConfigurationError("no model is set")
    if not api_key:
        raise ConfigurationError("no API key is set")
    if not api_key.isascii() or not api_key.isprintable() or " " in api_key:
        raise ConfigurationError("the API key holds a blank or another character no key has")
    if base_url is not None and not base_url.startswith(("http://", "https://")):
        shown = _shown(base_url)
        raise ConfigurationError(f"the base URL must begin with http:// or https://: {shown}")
    if max_tokens < 1:
        raise ConfigurationError(f"max_tokens must be at least 1, not {max_tokens}")
    if max_retries < 0:
        raise ConfigurationError(f"max_retries must not be negative: {max_retries}")
    if not idle_timeout > 0:
        raise ConfigurationError(f"idle_timeout must be more than 0 seconds, not {idle_timeout}")


def _shown(url: str) -> str:
    """Return the address without a name and password in it."""
    return re.sub(r"(//|^)[^/?#]*@", r"\1", url)


def _too_long_a_wait(error: ModelError, delay: float) -> ModelError:
    error.args = (f"{error}; it asks to wait {delay:.0f} seconds",)
    return error


def _message_of(error: anthropic.APIStatusError) -> str:
    """Return the service's own words, without the SDK's around them."""
    body = error.body
    inner = body.get("error") if isinstance(body, dict) else None
    message = inner.get("message") if isinstance(inner, dict) else None
    text = message if isinstance(message, str) and message else error.message
    return one_line(text)


def _events_of(data: str, reader: ReplyReader) -> Iterator[ModelEvent]:
    """Return what a line of the stream brings; an empty one brings nothing."""
    if not data:
        return iter(())
    try:
        raw = parse_json(data)
    except ValueError:
        raise ProtocolBreach("a line of the stream is not JSON") from None
    if not isinstance(raw, dict):
        raise ProtocolBreach("a line of the stream is not an object")
    return reader.read(raw)


async def _read_to_end(lines: AsyncIterator[Any], reader: ReplyReader) -> None:
    """Read on after the reply's last event, so that the connection can be used again.

    The reply is whole: a connection that breaks now, or stays open, takes nothing from it.
    """
    import httpx2  # loaded by now

    with suppress(TimeoutError, httpx2.HTTPError):
        async with asyncio.timeout(DRAIN_TIMEOUT):
            async for line in lines:
                for _ in _events_of(line.data, reader):
                    pass


def _causes(error: BaseException) -> list[BaseException]:
    """Return the errors under the libraries' layers, the first cause first."""
    causes = [error]
    while (inner := causes[0].__cause__ or causes[0].__context__) is not None:
        causes.insert(0, inner)
    return causes


def _reason(causes: Sequence[BaseException]) -> str:
    """Return what the system said of a failed connection, or what a library's error means."""
    import httpx2  # loaded by now

    first = causes[0]
    if isinstance(first, OSError) and first.errno and first.errno > 0:
        return os.strerror(first.errno)
    if any(isinstance(each, httpx2.RemoteProtocolError) for each in causes) and _CLOSED.search(
        str(first)
    ):
        return "it was closed before the reply was whole"
    return str(first) or str(causes[-1]) or type(first).__name__
