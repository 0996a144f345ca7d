"""What all kits play, by the calls that this kit's own are made of."""

import json
import os
import re

import pytest

import redeliver_testing as redeliver

FILE = os.environ.get("REDELIVER_CONFORMANCE") or os.path.join(os.path.dirname(__file__), "..", "..", "..", "..", "testdata", "kit", "conformance.json")

with open(FILE, encoding="utf-8") as file:
    CASES = json.load(file)["cases"]


def differs(at, want, got):
    """Where an answer has not what is wanted; None: nowhere."""
    if isinstance(want, list):
        if not isinstance(got, list) or len(got) != len(want):
            return f"{at} is {got!r}, and has to have {len(want)} members"
        return next((d for d in (differs(f"{at}[{i}]", *both) for i, both in enumerate(zip(want, got))) if d), None)
    if isinstance(want, dict):
        have = got if isinstance(got, dict) else {}
        return next((d for d in (differs(f"{at}.{name}", value, have.get(name)) for name, value in want.items()) if d), None)
    if isinstance(want, str) and len(want) > 2 and want[0] == want[-1] == "/":
        return None if re.search(want[1:-1], got if isinstance(got, str) else "") else f"{at} is {got!r}, want {want}"
    return None if want == got else f"{at} is {got!r}, want {want!r}"


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_conformance(case):
    host = redeliver.start(functions={"Other": {"trigger": {"type": "queueTrigger", "queueName": "others"}, "handler": "fail"}})
    session = host._session
    own = session.ask("POST", "/kit/hosts", case["options"])["id"]
    for i, step in enumerate(case["steps"]):
        method = next(key for key in step if key in ("get", "post", "put", "delete"))
        body = step["text"].encode() if "text" in step else json.dumps(step["send"]).encode() if "send" in step else None
        answer = session.raw(method.upper(), f"/kit/hosts/{own}{step[method]}", body, "application/json")
        try:
            told = json.loads(answer.body)
        except ValueError:
            told = None  # of another form
        want = step.get("status")
        assert answer.status == want if want else answer.status < 300, (i + 1, step, answer)
        assert "answer" not in step or differs(step[method], step["answer"], told) is None, (i + 1, differs(step[method], step["answer"], told), answer.body)
    end = session.ask("DELETE", f"/kit/hosts/{own}") or {}
    assert differs("end", case["end"], end) is None if case.get("end") else not end.get("failures")
    host.stop()
