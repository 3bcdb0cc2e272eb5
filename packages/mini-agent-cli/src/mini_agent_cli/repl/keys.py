"""What the keys do in a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prompt_toolkit.filters import Condition
from prompt_toolkit.key_binding import KeyBindings, merge_key_bindings
from prompt_toolkit.keys import Keys

if TYPE_CHECKING:
    from prompt_toolkit.key_binding import KeyBindingsBase, KeyPressEvent

    from mini_agent_cli.repl.questions import Questions
    from mini_agent_cli.repl.screen import Screen

HINT = "Ctrl-D or /quit leaves"


def key_bindings(screen: Screen) -> KeyBindingsBase:
    """Return the bindings, on top of the line editor's own."""
    return merge_key_bindings([_answering(screen.questions), _writing(screen), _leaving(screen)])


def _answering(questions: Questions) -> KeyBindings:
    keys = KeyBindings()
    takes_a_key = Condition(lambda: questions.takes_a_key)

    @keys.add(Keys.Any, filter=takes_a_key, eager=True)
    def _answer(event: KeyPressEvent) -> None:
        key = event.key_sequence[0].key  # of a paste it is not what was pasted
        if key.lower() in ("y", "s", "a", "n"):
            questions.answer(key.lower())
        elif key not in (Keys.CPRResponse, Keys.Ignore):  # the terminal's own
            questions.remind()

    @keys.add("c-z", filter=takes_a_key, eager=True)
    def _suspend(event: KeyPressEvent) -> None:
        event.app.suspend_to_background()

    @keys.add("enter", filter=takes_a_key, eager=True)
    @keys.add("escape", filter=takes_a_key, eager=True)
    @keys.add("c-d", filter=takes_a_key, eager=True)
    def _refuse(event: KeyPressEvent) -> None:  # noqa: ARG001  # a binding's shape
        questions.answer("")

    takes_a_line = Condition(lambda: questions.takes_a_line)

    @keys.add("escape", filter=takes_a_line, eager=True)
    def _leave_it_open(event: KeyPressEvent) -> None:  # noqa: ARG001  # a binding's shape
        questions.answer("")

    @keys.add("enter", filter=takes_a_line, eager=True)
    def _answer_line(event: KeyPressEvent) -> None:
        questions.answer(event.current_buffer.text)

    return keys


def _writing(screen: Screen) -> KeyBindings:
    keys = KeyBindings()
    questions = screen.questions

    @keys.add(
        "enter", filter=Condition(lambda: not questions.takes_a_line and not screen.is_searching)
    )
    def _send(event: KeyPressEvent) -> None:
        if event.current_buffer.text.strip():
            event.current_buffer.validate_and_handle()

    @keys.add("escape", "enter")
    def _new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    return keys


def _leaving(screen: Screen) -> KeyBindings:
    keys = KeyBindings()
    questions = screen.questions

    @keys.add("c-c", eager=True)
    @keys.add("<sigint>", eager=True)
    def _interrupt(event: KeyPressEvent) -> None:  # noqa: ARG001  # a binding's shape
        if screen.stop_searching() and not questions.is_open:
            return
        broken_off = questions.takes_a_line
        questions.answer("")
        if screen.interrupt() or broken_off:
            return
        if not screen.buffer_text:
            screen.print(screen.style.paint(HINT, "dim"))
        screen.buffer_text = ""

    @keys.add("c-d")
    def _leave(event: KeyPressEvent) -> None:  # noqa: ARG001  # a binding's shape
        if not screen.buffer_text and not questions.is_open:
            screen.leave()

    return keys
