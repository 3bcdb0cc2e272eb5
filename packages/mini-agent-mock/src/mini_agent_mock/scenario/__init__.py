"""Scenarios: the values, the conditions in them, and the grammar that reads them from JSON."""

from __future__ import annotations

from mini_agent_mock.scenario.values import (
    Arm,
    Block,
    Branch,
    Capture,
    Delivery,
    Piece,
    Scenario,
    Service,
    Split,
    StatusFault,
    StreamFault,
    Track,
    Turn,
    Writes,
)

__all__ = [
    "Arm",
    "Block",
    "Branch",
    "Capture",
    "Delivery",
    "Piece",
    "Scenario",
    "Service",
    "Split",
    "StatusFault",
    "StreamFault",
    "Track",
    "Turn",
    "Writes",
]
