"""The fixtures as somebody else's tests meet them, each run in a pytest of its own."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest


def test_a_test_that_goes_as_scripted_passes(
    pytester: pytest.Pytester, asking: Callable[[str], None]
) -> None:
    asking(
        """
    def test_it(anthropic_mock):
        anthropic_mock.script([{"text": "a"}])
        assert ask()["content"][0]["text"] == "a"
        assert anthropic_mock.requests[0].body["max_tokens"] == 5

    def test_a_track(anthropic_mock):
        anthropic_mock.script({"tracks": {"main": {"turns": [{"text": "a"}]}}})
        ask()
        assert anthropic_mock.requests[0].track == "main"
        assert anthropic_mock.events[0]["record"] == "run"
    """
    )
    pytester.runpytest_inprocess().assert_outcomes(passed=2)


def test_a_failed_run_says_what_the_readme_shows(
    pytester: pytest.Pytester, asking: Callable[[str], None]
) -> None:
    readme = Path(__file__).parents[1] / "README.md"
    section = readme.read_text("utf-8").partition("## What a failed run says")[2]
    shown = section.partition("```text\n")[2].partition("```")[0]
    asking(
        """
    def test_it(anthropic_mock):
        anthropic_mock.script([{"text": "a"}])
        ask()
        ask("And now?")
    """
    )
    assert shown.strip() in pytester.runpytest_inprocess().stdout.str()


def test_each_way_of_leaving_the_script_fails_the_test_itself(
    pytester: pytest.Pytester, asking: Callable[[str], None]
) -> None:
    asking(
        """
    def test_one_request_too_many_whose_error_is_swallowed(anthropic_mock):
        anthropic_mock.script([{"text": "a"}])
        ask()
        ask("again")

    def test_one_turn_too_many(anthropic_mock):
        anthropic_mock.script([{"text": "a"}, {"text": "b"}])
        ask()

    def test_unexpected(anthropic_mock):
        anthropic_mock.script([{"text": "a", "expect": {"last_user": "bye"}}])
        ask()

    def test_nothing_scripted(anthropic_mock):
        ask()
    """
    )
    result = pytester.runpytest_inprocess()
    result.assert_outcomes(failed=4)
    result.stdout.fnmatch_lines(
        [
            "*the test's script: the run did not go as scripted (1 failure)",
            "*exhausted at request 2: the track 'main' has played its 1 turn;*",
            "*last user text 'again'",
            "*left_over: the track 'main' has turns that were never asked for: turns[[]1[]]*",
            "*unexpected at request 1: the request is not what turns[[]0[]] expects",
            "*the last user text does not contain 'bye': 'hi'",
            "*exhausted at request 1: the track 'main' has no turns; call anthropic_mock.script(*",
        ]
    )
    assert "pytest_plugin.py" not in result.stdout.str()


def test_a_test_that_fails_by_itself_shows_what_the_mock_saw(
    pytester: pytest.Pytester, asking: Callable[[str], None]
) -> None:
    asking(
        """
    def test_it(anthropic_mock):
        anthropic_mock.script([{"text": "a"}, {"text": "b"}])
        ask()
        assert "mine" == "yours"
    """
    )
    result = pytester.runpytest_inprocess()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*assert 'mine' == 'yours'",
            "*Captured anthropic_mock call*",
            "left_over: the track 'main'*",
            "*1. POST /v1/messages → track 'main' turns[[]0[]] → 200",
        ]
    )


def test_the_marker_plays_a_file_beside_the_test(
    pytester: pytest.Pytester, asking: Callable[[str], None]
) -> None:
    pytester.makefile(".json", s=json.dumps({"turns": [{"text": "from the file"}]}))
    pytester.makefile(".json", bad=json.dumps({"turns": [{"txt": ""}]}))
    asking(
        """
    @pytest.mark.anthropic_scenario("s.json")
    def test_file():
        assert ask()["content"][0]["text"] == "from the file"

    @pytest.mark.anthropic_scenario({"turns": [{"text": "inline"}]})
    def test_inline(anthropic_mock):
        assert ask()["content"][0]["text"] == "inline"

    @pytest.mark.anthropic_scenario("s.json")
    class TestAll:
        def test_one(self): ask()
        def test_two(self): ask()

    @pytest.mark.anthropic_scenario("bad.json")
    def test_bad(): pass

    @pytest.mark.anthropic_scenario
    def test_empty(): pass
    """
    )
    result = pytester.runpytest_inprocess("--strict-markers")
    result.assert_outcomes(passed=4, errors=2)
    result.stdout.fnmatch_lines(
        [
            "*bad.json: turns[[]0[]]: unknown key 'txt'; did you mean 'text'?*",
            "*anthropic_scenario takes one argument: the scenario file*",
        ]
    )


def test_the_environment_points_to_the_mock_and_nowhere_else(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_PROFILE", "personal")
    pytester.makepyfile(
        """
    import os

    def named():
        return {name for name in os.environ if name.startswith("ANTHROPIC_")}

    def test_inside(anthropic_mock):
        assert named() == {"ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"}
        assert os.environ["ANTHROPIC_BASE_URL"] == anthropic_mock.base_url
        assert os.environ["ANTHROPIC_API_KEY"] == anthropic_mock.api_key

    def test_after():
        assert named() == {"ANTHROPIC_PROFILE"}
    """
    )
    pytester.runpytest_inprocess().assert_outcomes(passed=2)


def test_all_tests_share_one_server_and_none_can_eat_another_s_script(
    pytester: pytest.Pytester,
    asking: Callable[[str], None],
) -> None:
    asking(
        """
    seen = []

    def test_one(anthropic_mock):
        seen.append(anthropic_mock.base_url)

    def test_two(anthropic_mock, monkeypatch):
        assert seen[0].rpartition("/")[0] == anthropic_mock.base_url.rpartition("/")[0]
        anthropic_mock.script([{"text": "a"}])
        monkeypatch.setenv("ANTHROPIC_BASE_URL", seen[0])
        assert "no run is mounted" in ask()["error"]["message"]
        monkeypatch.setenv("ANTHROPIC_BASE_URL", anthropic_mock.base_url)
        ask()
    """
    )
    pytester.runpytest_inprocess().assert_outcomes(passed=2)


def test_a_test_may_have_several_acts(
    pytester: pytest.Pytester, asking: Callable[[str], None]
) -> None:
    asking(
        """
    def test_it(anthropic_mock):
        anthropic_mock.script([{"text": "a"}])
        ask("one")
        anthropic_mock.script([{"text": "b"}])
        assert ask("two")["content"][0]["text"] == "b"
        assert [r.body["messages"][0]["content"] for r in anthropic_mock.requests] == ["one", "two"]

    def test_an_act_must_be_over(anthropic_mock):
        anthropic_mock.script([{"text": "a"}])
        with pytest.raises(AssertionError, match="never asked for"):
            anthropic_mock.script([{"text": "b"}])
        ask()
    """
    )
    pytester.runpytest_inprocess().assert_outcomes(passed=2)


def test_event_logs_are_written_where_they_are_wanted(
    pytester: pytest.Pytester, asking: Callable[[str], None]
) -> None:
    asking(
        """
    @pytest.mark.parametrize("what", ["a/b"])
    def test_it(anthropic_mock, what):
        anthropic_mock.script([{"text": "a"}])
        ask()
        anthropic_mock.script([{"text": "b"}])
        ask()
    """
    )
    pytester.runpytest_inprocess("--anthropic-mock-log", "logs").assert_outcomes(passed=1)
    names = sorted(path.name for path in (pytester.path / "logs").iterdir())
    stem = "test_it.py_test_it_a_b-[0-9a-f]{8}"  # a/b and a_b must not share a file
    assert [re.fullmatch(stem + r"(\.2)?\.jsonl", name) is not None for name in names] == [True] * 2
    first = (pytester.path / "logs" / names[1]).read_text().splitlines()
    assert [json.loads(line)["record"] for line in first] == ["run", "request", "reply", "sent"]


def test_a_log_that_cannot_be_had_is_told_at_the_authors_own_line(
    pytester: pytest.Pytester, asking: Callable[[str], None]
) -> None:
    asking(
        """
    def test_it(anthropic_mock):
        anthropic_mock.script([])
    """
    )
    log = pytester.mkdir("logs") / "test_it.py_test_it.jsonl"
    log.mkdir()
    result = pytester.runpytest_inprocess("--anthropic-mock-log", "logs")
    result.stdout.fnmatch_lines(
        ["> *script([[]])", f"E *cannot write the event log logs/{log.name}: Is a directory"]
    )
    result.stdout.no_fnmatch_line("*log_file.py*")


IN_PROCESS = """
    import anthropic, pytest

    ASK = dict(model="claude-haiku-4-5", max_tokens=5, messages=[{"role": "user", "content": "x"}])

    async def use(mock):
        mock.script([{"text": "a"}, {"text": "b"}])
        async with anthropic.AsyncAnthropic(http_client=mock.http_client()) as client:
            assert (await client.messages.create(**ASK)).content[0].text == "a"
            async with client.messages.stream(**ASK) as stream:
                assert await stream.get_final_text() == "b"
"""


def test_in_process_the_async_client_works_under_anyio(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        IN_PROCESS
        + """
    @pytest.mark.anyio
    @pytest.mark.parametrize("anyio_backend", ["asyncio"])
    async def test_it(anthropic_inprocess, anyio_backend):
        await use(anthropic_inprocess)

    @pytest.mark.anthropic_scenario({"turns": [{"text": "a"}]})
    def test_sync(anthropic_inprocess):
        with anthropic.Anthropic(http_client=anthropic_inprocess.sync_http_client()) as client:
            client.messages.create(**ASK)

    def test_left_over(anthropic_inprocess):
        anthropic_inprocess.script([{"text": "a"}])
    """
    )
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=2, failed=1)


def test_workers_of_xdist_each_have_their_own_server(
    pytester: pytest.Pytester, asking: Callable[[str], None]
) -> None:
    asking(
        """
    @pytest.mark.parametrize("number", range(6))
    def test_it(anthropic_mock, number):
        anthropic_mock.script([{"text": str(number)}])
        assert ask()["content"][0]["text"] == str(number)

    def test_left_over(anthropic_mock):
        anthropic_mock.script([{"text": "a"}])
    """
    )
    result = pytester.runpytest_subprocess("-n", "2", timeout=120)
    result.assert_outcomes(passed=6, failed=1)


def test_the_plugin_loads_neither_server_nor_sdk_until_it_is_asked() -> None:
    code = (
        "import sys, mini_agent_mock.pytest_plugin\n"
        "heavy = {'httptools', 'anthropic', 'httpx2', 'asyncio', 'mini_agent_mock.edges.server',"
        " 'mini_agent_mock.engine'}\n"
        "import pytest\n"
        "before = set(sys.modules)\n"
        "print(sorted(name for name in sys.modules if name.startswith('mini_agent_mock')),"
        " sorted(heavy & set(sys.modules) - {'asyncio'}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "['mini_agent_mock', 'mini_agent_mock.pytest_plugin'] []"


def test_a_file_that_is_loaded_by_hand_plays(anthropic_mock: object, tmp_path: Path) -> None:
    from mini_agent_mock.edges.fixture import HostedScript

    assert isinstance(anthropic_mock, HostedScript)
    file = tmp_path / "s.json"
    file.write_text('{"turns": [{"text": "a", "repeat": "always"}]}')
    anthropic_mock.load(file)
    anthropic_mock.check()


def test_a_folder_for_logs_that_cannot_be_made_is_told_before_any_test(
    pytester: pytest.Pytester, asking: Callable[[str], None]
) -> None:
    asking("def test_it(anthropic_mock): pass")
    result = pytester.runpytest_inprocess("--anthropic-mock-log", "test_it.py")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    told = "--anthropic-mock-log: cannot make the folder test_it.py: File exists"
    assert told in result.stderr.str()


def test_names_too_long_for_a_file_are_cut_and_stay_apart(
    pytester: pytest.Pytester, asking: Callable[[str], None]
) -> None:
    asking(
        """
    @pytest.mark.parametrize("what", [1, 2], ids=["x" * 300 + "1", "x" * 300 + "2"])
    @pytest.mark.anthropic_scenario([{"text": "a"}])
    def test_it(what): ask()
    """
    )
    pytester.runpytest_inprocess("--anthropic-mock-log", "logs").assert_outcomes(passed=2)
    assert len(list((pytester.path / "logs").iterdir())) == 2


def test_a_test_that_is_run_once_more_begins_anew(
    pytester: pytest.Pytester, asking: Callable[[str], None]
) -> None:
    pytester.makeconftest(
        """
    from _pytest.runner import runtestprotocol

    def pytest_runtest_protocol(item, nextitem):
        runtestprotocol(item, nextitem=nextitem, log=False)
        for report in runtestprotocol(item, nextitem=nextitem, log=False):
            item.ihook.pytest_runtest_logreport(report=report)
        return True
    """
    )
    asking(
        """
    seen = []

    @pytest.mark.anthropic_scenario([{"text": "a"}])
    def test_flaky():
        seen.append(1)
        if len(seen) > 1:
            ask()
    """
    )
    pytester.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)
