"""Run a gate or a check for new steps, and post the result to a webhook that takes Slack's messages.

SLACK_WEBHOOK_URL=https://... python slack_webhook.py ndcg-track gate CANDIDATE --baseline @prod --margin 0.01
SLACK_WEBHOOK_URL=https://... python slack_webhook.py ndcg-track history --new-steps --exit-code

It posts only if the exit code is not 0, so neither a PASS nor a history without a new step. To post always, give
--always as the first argument. It ends with the exit code of the command, so that a build still obeys the gate. If that
is 0 and the post failed, it ends with 1.
"""

import json
import os
import subprocess
import sys
import urllib.request


def escaped(text: object) -> str:
    """Return a text in which Slack sees no link, channel or person."""
    return str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def message_about(found: object, code: int, error: str) -> str:
    """Return the message about the JSON of a gate or a history, or about an error."""
    if isinstance(found, dict) and "decision" in found:
        runs = f"{found['candidate']['name']} against {found['baseline']['name']} on {found['dataset']}"
        return f"*{found['decision'].upper()}*: {escaped(runs)}\n{escaped(chr(10).join(found['screen']))}"
    if isinstance(found, list):
        steps = [
            f"{row['metric']} stepped {'up' if row['step_change'] > 0 else 'down'} by {abs(row['step_change']):.4f} at "
            f"{row['run']} (commit {(row['git_commit'] or 'unknown')[:7]})"
            for row in found
            if row["step"]
        ]
        return escaped("\n".join(steps) or "no new step")
    return f"ndcg-track ended with exit code {code}\n{escaped(error.strip())}"


def main(command: list[str], url: str) -> int:
    is_always = command[:1] == ["--always"]
    done = subprocess.run([*command[is_always:], "--format", "json"], capture_output=True, text=True, check=False)
    print(done.stdout, end="")
    print(done.stderr, end="", file=sys.stderr)
    if done.returncode == 0 and not is_always:
        return 0
    message = message_about(json.loads(done.stdout or "null"), done.returncode, done.stderr)
    body = json.dumps({"text": message}).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    try:
        urllib.request.urlopen(request, timeout=30).close()
    except OSError as error:
        print(f"not posted: {error}", file=sys.stderr)
        return done.returncode or 1
    return done.returncode


if __name__ == "__main__":
    address = os.environ.get("SLACK_WEBHOOK_URL") or sys.exit("set SLACK_WEBHOOK_URL to the address of the webhook")
    sys.exit(main(sys.argv[1:], address))
