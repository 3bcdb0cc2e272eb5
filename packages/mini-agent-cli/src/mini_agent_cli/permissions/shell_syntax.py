"""Reads a shell command far enough to know which programs it starts.

It errs to one side only: what it does not understand it calls *opaque*, and an opaque command
is never covered by a rule that allows. POSIX shell and bash.

    command = segment (operator segment)*        operators: ; & && | || |& newline
    segment = words, redirects, and the commands inside its substitutions
"""

from __future__ import annotations

from dataclasses import dataclass, field

_OPERATORS = ("&&", "||", "|&", ";;", ";", "|", "&", "\n")
_REDIRECTS = ("&>>", "&>", "<<<", "<<-", "<<", "<>", "<&", ">>", ">&", ">|", "<", ">")
_RESERVED = frozenset(
    [
        "if",
        "then",
        "else",
        "elif",
        "fi",
        "for",
        "while",
        "until",
        "do",
        "done",
        "case",
        "esac",
        "select",
        "function",
        "time",
        "coproc",
        "{",
        "}",
        "!",
        "[[",
    ]
)


@dataclass(frozen=True, slots=True)
class Segment:
    """One simple command.

    Attributes:
        words: its words with quotes and escapes resolved.
        text: as it was written.
        redirects: those that open a file, as written; ``2>&1`` and the like are none.
        opaque: why it cannot be read with certainty; empty when it can.
    """

    words: tuple[str, ...]
    text: str
    redirects: tuple[str, ...] = ()
    opaque: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ShellCommand:
    """A whole command: its segments in order, those inside substitutions after their own."""

    segments: tuple[Segment, ...]


def parse_shell(command: str) -> ShellCommand:
    """Return the command's segments. Never raises: what cannot be read is opaque."""
    return ShellCommand(tuple(_Reader(command).segments()))


@dataclass(slots=True)
class _Draft:
    start: int
    words: list[str] = field(default_factory=list)
    redirects: list[str] = field(default_factory=list)
    opaque: list[str] = field(default_factory=list)
    inner: list[Segment] = field(default_factory=list)

    def doubt(self, reason: str) -> None:
        if reason not in self.opaque:
            self.opaque.append(reason)


class _Reader:
    def __init__(self, text: str, depth: int = 0) -> None:
        self.text = text
        self.at = 0
        self.depth = depth
        self.draft = _Draft(0)

    def segments(self) -> list[Segment]:
        found: list[Segment] = []
        while self.at < len(self.text):
            if not self._between_words(found):
                self._word()
        self._end_segment(found)
        return found

    def _between_words(self, found: list[Segment]) -> bool:
        """Take what stands between words, if something does."""
        char = self.text[self.at]
        if char in " \t":
            self.at += 1
        elif self.text.startswith("\\\n", self.at):
            self.at += 2
        elif char == "#":
            end = self.text.find("\n", self.at)
            self.at = len(self.text) if end < 0 else end
        elif self._redirect():
            pass
        elif operator := self._starts_with(_OPERATORS):
            self._end_segment(found, len(operator))
        elif char in "()":
            self.draft.doubt("a subshell or function")
            self._end_segment(found, 1)
        else:
            return False
        return True

    def _starts_with(self, candidates: tuple[str, ...]) -> str:
        return next((c for c in candidates if self.text.startswith(c, self.at)), "")

    def _end_segment(self, found: list[Segment], width: int = 0) -> None:
        draft = self.draft
        text = self.text[draft.start : self.at].strip()
        self.at += width
        self.draft = _Draft(self.at)
        if not (text or draft.words or draft.redirects):
            return
        if draft.words and draft.words[0] in _RESERVED:
            draft.doubt(f"the shell's own word {draft.words[0]!r}")
        segment = Segment(tuple(draft.words), text, tuple(draft.redirects), tuple(draft.opaque))
        found.append(segment)
        found.extend(draft.inner)

    def _redirect(self) -> bool:
        """Take a redirect with its target, if one stands here."""
        start = self.at
        end = start
        while end < len(self.text) and self.text[end].isdigit():
            end += 1
        self.at = end
        operator = self._starts_with(_REDIRECTS)
        if not operator or (operator in "<>" and self.text.startswith("(", end + 1)):
            self.at = start
            return False
        self.at += len(operator)
        if operator in ("<<", "<<-"):
            self.draft.doubt("a here-document")
        self._skip_blanks()
        target = self._plain_word()
        duplicates = operator in (">&", "<&") and (target.isdigit() or target == "-")
        if not duplicates and target != "/dev/null":
            self.draft.redirects.append(self.text[start : self.at].strip())
        return True

    def _skip_blanks(self) -> None:
        while self.at < len(self.text) and self.text[self.at] in " \t":
            self.at += 1

    def _word(self) -> None:
        word = self._plain_word()
        self.draft.words.append(word)

    def _plain_word(self) -> str:
        """Take one word and return it with its quotes resolved."""
        pieces: list[str] = []
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in " \t\n;|&()<>" and not self._process_substitution():
                break
            pieces.append(self._piece(char))
        return "".join(pieces)

    def _process_substitution(self) -> bool:
        return self._starts_with(("<(", ">(")) != ""

    def _piece(self, char: str) -> str:
        if char == "'":
            return self._single_quoted()
        if char == '"':
            return self._double_quoted()
        if char == "\\":
            self.at += 2
            escaped = self.text[self.at - 1 : self.at]
            return "" if escaped == "\n" else escaped
        if self._process_substitution():
            self.at += 1
            return self._parenthesised("a process substitution")
        return self._expansion(char)

    def _single_quoted(self) -> str:
        end = self.text.find("'", self.at + 1)
        if end < 0:
            self.draft.doubt("a quote that is not closed")
            end = len(self.text)
        content = self.text[self.at + 1 : end]
        self.at = end + 1
        return content

    def _double_quoted(self) -> str:
        pieces: list[str] = []
        self.at += 1
        while self.at < len(self.text) and self.text[self.at] != '"':
            char = self.text[self.at]
            following = self.text[self.at + 1 : self.at + 2]
            if char == "\\" and following in ("$", "`", '"', "\\", "\n"):
                pieces.append("" if following == "\n" else following)
                self.at += 2
            else:
                pieces.append(self._expansion(char))
        if self.at >= len(self.text):
            self.draft.doubt("a quote that is not closed")
        self.at += 1
        return "".join(pieces)

    def _expansion(self, char: str) -> str:
        """Take a character, or the substitution that starts with it."""
        if char == "`":
            return self._backticks()
        if char == "$":
            if self.text.startswith("$(", self.at):
                self.at += 1
                return "$" + self._parenthesised("a command substitution")
            if self.text.startswith("$[", self.at):
                self.draft.doubt("an arithmetic expansion")
            elif self._starts_with(("$'", '$"')):
                self.draft.doubt("a $'…' or $\"…\" string")
            elif self.text.startswith("${", self.at) and not self._simple_braces():
                self.draft.doubt("a ${…} with an operation in it")
        self.at += 1
        return char

    def _simple_braces(self) -> bool:
        end = self.text.find("}", self.at)
        return end > 0 and self.text[self.at + 2 : end].isidentifier()

    def _backticks(self) -> str:
        end = self.text.find("`", self.at + 1)
        if end < 0:
            self.draft.doubt("a backtick that is not closed")
            end = len(self.text)
        self._inside(self.text[self.at + 1 : end], "a command substitution")
        taken = self.text[self.at : end + 1]
        self.at = end + 1
        return taken

    def _parenthesised(self, what: str) -> str:
        """Take ``(…)`` and read the command inside it as well."""
        end = _closing_parenthesis(self.text, self.at)
        if end is None:
            self.draft.doubt("a parenthesis that is not closed")
            end = len(self.text)
        self._inside(self.text[self.at + 1 : end], what)
        taken = self.text[self.at : end + 1]
        self.at = end + 1
        return taken

    def _inside(self, command: str, what: str) -> None:
        self.draft.doubt(what)
        if self.depth < _DEEPEST:
            self.draft.inner.extend(_Reader(command, self.depth + 1).segments())


_DEEPEST = 8


def _closing_parenthesis(text: str, opening: int) -> int | None:
    """Return where the parenthesis that opens there is closed, quotes respected."""
    depth = 0
    at = opening
    while at < len(text):
        char = text[at]
        if char == "\\":
            at += 1
        elif char == "'":
            at = text.find("'", at + 1)
            if at < 0:
                return None
        elif char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
            if depth == 0:
                return at
        at += 1
    return None
