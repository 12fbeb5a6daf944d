#!/usr/bin/env bash
# What: an app made with gradio 6.31.0 offers its functions as tools (`mcp_server=True`). One is `convert(amount: int, to: str = "EUR")`, behind two
#   text boxes.
# Guess: the tool is made from the function: an integer, and an optional text with its default.
# Seen: it is made from the form: both are texts and both are required. A call as the function is written (`{"amount": 5}`) is refused, for the
#   missing argument and for the number. The description does come from the function.
# Why it matters: any such app can serve as an MCP server with one word. A model that reads "amount: how much to convert" sends a number. What corrects
#   arguments by the schema has to turn a number into a text, too.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'kill "${app:-}" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work" || exit 2
{ python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check 'gradio[mcp]==6.31.0' mcp==1.30.0; } >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >app.py <<'PY'
import sys
import gradio

def convert(amount: int, to: str = "EUR") -> str:
    """Convert money.

    Args:
        amount: how much to convert
        to: the currency
    """
    return f"{amount} in {to}"

with gradio.Blocks() as app:
    amount, to, result = gradio.Textbox(), gradio.Textbox(), gradio.Textbox()
    gradio.Button("Convert").click(convert, [amount, to], result)
app.launch(mcp_server=True, server_port=int(sys.argv[1]))
PY
cat >ask.py <<'PY'
import json, sys, time, urllib.error, urllib.request
address = f"http://127.0.0.1:{sys.argv[1]}/gradio_api/mcp/"

def ask(method, params):
    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25"}
    message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    with urllib.request.urlopen(urllib.request.Request(address, message, headers), timeout=20) as answer:
        body = answer.read().decode()
        return json.loads(([line[6:] for line in body.splitlines() if line.startswith("data: {")] or [body])[-1])["result"]

for _ in range(150):
    try:
        ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "finding", "version": "1"}})
        break
    except OSError:
        time.sleep(0.4)
schema = ask("tools/list", {})["tools"][0]["inputSchema"]
def call(arguments): return ask("tools/call", {"name": "convert", "arguments": arguments})["content"][0]["text"]
types = {name: value["type"] for name, value in schema["properties"].items()}
answers = [call({"amount": 5}), call({"amount": 5, "to": "EUR"}), call({"amount": "5", "to": "EUR"})]
print("expected: amount an integer, to optional; 5 in EUR")
print(f"seen:     {types}, required {schema['required']}")
for answer in answers:
    print(f"          {answer}")
sys.exit(not (types == {"amount": "string", "to": "string"} and schema["required"] == ["amount", "to"] and answers[2] == "5 in EUR" and not any("in EUR" in answer for answer in answers[:2])))
PY
echo "version:  gradio 6.31.0, mcp 1.30.0"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
env HOME="$work" GRADIO_ANALYTICS_ENABLED=False venv/bin/python app.py "$port" >app.log 2>&1 </dev/null &
app=$!
timeout 120 python3 ask.py "$port" 2>ask.log || { tail -n 3 ask.log; tail -n 3 app.log; echo "changed"; exit 1; }
