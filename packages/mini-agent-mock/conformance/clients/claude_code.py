"""Claude Code in print mode: it reads a file because the model asks for it.

Run inside the folder the client was installed into; HOME is a scratch folder.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

MODEL, QUESTION = sys.argv[1:3]
CLIENT = Path(os.environ["CLIENT_FOLDER"], "node_modules", ".bin", "claude")
Path("weather.txt").write_text("18 degrees in Paris\n")
version = subprocess.run([CLIENT, "--version"], capture_output=True, text=True, check=True)
done = subprocess.run(
    [CLIENT, "-p", QUESTION, "--model", MODEL, "--allowedTools", "Read"],
    capture_output=True,
    check=False,
    text=True,
    timeout=180,
    stdin=subprocess.DEVNULL,
)
if done.returncode:
    sys.exit(f"exit code {done.returncode}: {done.stdout}{done.stderr}")
print(json.dumps({"version": version.stdout.split()[0], "texts": [done.stdout.strip()]}))
