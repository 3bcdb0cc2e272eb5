"""What the author of a test reads when a scenario cannot be played, or was not kept to."""

import json
from collections.abc import Callable

import pytest

OURS = ("fixture.py", "runs.py", "grammar.py", "pytest_plugin.py", "During handling", "Traceback")


Told = Callable[..., str]


@pytest.fixture
def told(pytester: pytest.Pytester, asking: Callable[[str], None]) -> Told:
    """What pytest prints of a file with this body; no line of it is of our code."""

    def run(body: str, *options: str, **outcomes: int) -> str:
        asking(body)
        result = pytester.runpytest_inprocess("-p", "no:cacheprovider", *options)
        result.assert_outcomes(**outcomes)
        shown = result.stdout.str()
        assert [name for name in OURS if name in shown] == []
        return shown

    return run


def test_a_typo_in_a_script_is_told_at_the_line_that_has_it(told: Told) -> None:
    shown = told(
        """
    def test_typo(anthropic_mock):
        anthropic_mock.script([{"txt": "a"}])
    """,
        failed=1,
    )
    assert '>       anthropic_mock.script([{"txt": "a"}])' in shown
    assert "the test's script: turns[0]: unknown key 'txt'; did you mean 'text'?" in shown
    assert "test_it.py:17: ScenarioError" in shown
    assert "Captured anthropic_mock" not in shown  # it would only say that nothing came


def test_a_typo_in_a_file_names_the_file_the_test_and_nothing_of_ours(
    told: Told,
    pytester: pytest.Pytester,
) -> None:
    pytester.makefile(".json", bad=json.dumps({"turns": [{"txt": ""}]}))
    shown = told(
        """
    @pytest.mark.anthropic_scenario("bad.json")
    def test_marked(): pass

    @pytest.mark.anthropic_scenario("no.json")
    def test_missing(): pass

    @pytest.mark.anthropic_scenario
    def test_empty(): pass

    @pytest.mark.anthropic_scenario({"turns": []})
    @pytest.mark.anthropic_scenario("bad.json")
    def test_twice(): pass

    @pytest.mark.anthropic_scenario({"turns": []})
    def test_both(anthropic_mock, anthropic_inprocess): pass

    def test_by_hand(anthropic_mock):
        anthropic_mock.load("bad.json")

    def test_mixed_up(anthropic_mock):
        anthropic_mock.script("bad.json")
    """,
        errors=5,
        failed=2,
    )
    assert "bad.json: turns[0]: unknown key 'txt'; did you mean 'text'?" in shown
    assert "\ntest_it.py:16: test_marked\n" in shown
    assert "no.json: cannot be read: No such file or directory\n" in shown
    assert "anthropic_scenario takes one argument: the scenario file\n\ntest_it.py:22: " in shown
    assert "anthropic_scenario is given twice\n\ntest_it.py:25: test_twice\n" in shown
    assert "cannot play through anthropic_mock and anthropic_inprocess both" in shown
    assert '>       anthropic_mock.load("bad.json")' in shown
    assert "a file is played by `load`, not by `script`: bad.json" in shown


def test_a_refusal_is_told_before_the_turn_that_it_left_over(told: Told) -> None:
    shown = told(
        """
    @pytest.mark.anthropic_scenario([{"text": "a"}])
    def test_it():
        ask(model="claude-opsu-5-5")
        for _ in range(4):
            ask(max_tokens=-1)
    """,
        failed=1,
    )
    account = shown.partition("did not go as scripted (1 failure)\n\n")[2].splitlines()
    assert account[0] == (
        "refused at request 1, so it took no turn: 404 'model: claude-opsu-5-5';"
        " did you mean 'claude-opus-5-5'?"
    )
    assert account[2].startswith("refused at request 2, so it took no turn: 400 'max_tokens: ")
    assert account[4].startswith("refused at request 3")
    assert account[5] == "  and 2 more, for which see below"
    assert account[7].startswith("left_over: ")
    assert "1. POST /v1/messages → 404 'model: claude-opsu-5-5'; did you mean" in shown


def test_what_a_scripted_fault_answers_is_no_refusal(told: Told) -> None:
    shown = told(
        """
    @pytest.mark.anthropic_scenario([{"fault": {"status": 400}}, {"text": "a"}])
    def test_it(): ask()
    """,
        failed=1,
    )
    assert "refused at" not in shown


def test_an_account_ends_with_the_test_s_place(told: Told) -> None:
    shown = told(
        """
    def test_left_over(anthropic_mock):
        anthropic_mock.script([{"text": "a"}])

    def test_checked_by_hand(anthropic_mock):
        anthropic_mock.script([{"text": "a"}])
        anthropic_mock.check()
    """,
        failed=2,
    )
    assert "\ntest_it.py:16: test_left_over\n" in shown
    assert ">       anthropic_mock.check()" in shown
    assert "test_it.py:21: ScenarioFailure" in shown


def test_a_request_before_anything_is_scripted_is_not_forgotten(told: Told) -> None:
    shown = told(
        """
    def test_too_early(anthropic_mock):
        ask("too early")
        anthropic_mock.script([{"text": "a"}])
        ask()
    """,
        failed=1,
    )
    assert '>       anthropic_mock.script([{"text": "a"}])' in shown
    assert "last user text 'too early'" in shown


def test_a_request_while_the_test_s_fixtures_close_is_not_forgotten(
    told: Told,
) -> None:
    shown = told(
        """
    @pytest.fixture
    def client(anthropic_mock):
        yield
        ask("goodbye")

    def test_it(anthropic_mock, client):
        anthropic_mock.script([{"text": "a"}])
        ask()

    def test_that_fails_by_itself(anthropic_mock, client):
        raise ValueError("mine")
    """,
        passed=1,
        failed=1,
        errors=1,
    )
    assert "ERROR at teardown of test_it" in shown
    assert "last user text 'goodbye'" in shown


def test_a_fixture_that_fails_shows_what_the_mock_saw(told: Told) -> None:
    shown = told(
        """
    @pytest.fixture
    def answer(anthropic_mock):
        anthropic_mock.script([{"text": "a"}])
        ask()
        return ask("again")["content"]

    def test_it(answer): pass
    """,
        errors=1,
    )
    assert "Captured anthropic_mock call" in shown
    assert "last user text 'again'" in shown


def test_classes_of_unittest_are_tests_like_any_other(told: Told) -> None:
    shown = told(
        """
    @pytest.mark.anthropic_scenario({"turns": [{"text": "a"}]})
    class TestMarked(unittest.TestCase):
        def setUp(self): self.said = ask()["content"][0]["text"]
        def test_one(self): self.assertEqual(self.said, "a")
        def test_again(self): ask("one too many")
        def test_own(self): self.assertEqual(self.said, "mine")
        @unittest.skip("not now")
        def test_skipped(self): pass

    class TestNamed(unittest.TestCase):
        @pytest.fixture(autouse=True)
        def take(self, anthropic_mock): self.mock = anthropic_mock
        def test_it(self):
            self.mock.script([{"text": "b"}])
            self.assertEqual(ask()["content"][0]["text"], "b")
    """,
        passed=2,
        failed=2,
        skipped=1,
    )
    assert "last user text 'one too many'" in shown
    assert "AssertionError: 'a' != 'mine'" in shown
    assert "1. POST /v1/messages → track 'main' turns[0] → 200" in shown


def test_a_marked_test_makes_wider_fixtures_outside_the_mock_s_environment(
    told: Told,
) -> None:
    told(
        """
    @pytest.fixture(scope="session", autouse=True)
    def settings():
        assert "ANTHROPIC_BASE_URL" not in os.environ
        os.environ["ANTHROPIC_MODEL"] = "claude-mine"
        yield
        del os.environ["ANTHROPIC_MODEL"]

    @pytest.fixture(autouse=True)
    def client():
        return os.environ.get("ANTHROPIC_BASE_URL")

    @pytest.mark.anthropic_scenario({"turns": [{"text": "a"}]})
    def test_marked(client):
        assert client
        assert "ANTHROPIC_MODEL" not in os.environ
        ask()

    def test_after():
        assert os.environ["ANTHROPIC_MODEL"] == "claude-mine"

    @pytest.mark.parametrize("number", [
        1, pytest.param(2, marks=pytest.mark.anthropic_scenario({"turns": [{"text": "two"}]})),
    ])
    def test_parametrised(number):
        assert (number == 2) == ("ANTHROPIC_BASE_URL" in os.environ)
        if number == 2:
            assert ask()["content"][0]["text"] == "two"
    """,
        passed=4,
    )


def test_the_nearest_marker_counts(told: Told) -> None:
    told(
        """
    @pytest.mark.anthropic_scenario({"turns": [{"text": "class"}]})
    class TestIt:
        def test_class(self): assert ask()["content"][0]["text"] == "class"

        @pytest.mark.anthropic_scenario({"turns": [{"text": "own"}]})
        def test_own(self): assert ask()["content"][0]["text"] == "own"
    """,
        passed=2,
    )
