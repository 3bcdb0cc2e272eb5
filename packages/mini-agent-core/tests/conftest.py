"""What core's tests share. The fakes themselves are public: ``mini_agent_core.testing``."""

from __future__ import annotations

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """Core is written for asyncio and nothing else."""
    return "asyncio"
