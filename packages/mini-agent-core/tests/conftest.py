"""What core's tests share. The fakes themselves are public: ``mini_agent_core.testing``."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

# How fast examples are drawn says how busy the machine is, and nothing about the code.
settings.register_profile("core", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("core")


@pytest.fixture
def anyio_backend() -> str:
    """Core is written for asyncio and nothing else."""
    return "asyncio"
