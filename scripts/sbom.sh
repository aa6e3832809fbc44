#!/bin/sh
# Writes dist/sbom.cdx.json: what is in an installation, from requirements.lock (CycloneDX).
# Made with a release and not kept in the repository: it follows from the lock file alone.
set -eu

cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
"$python" -m venv "$tools"
"$tools/bin/pip" install -q --disable-pip-version-check cyclonedx-bom==7.5.0

mkdir -p dist
"$tools/bin/cyclonedx-py" requirements --short-PURLs --output-reproducible --of JSON \
    --pyproject pyproject.toml --output-file dist/sbom.cdx.json requirements.lock
"$python" - <<'CHECK'
import json, pathlib, re

locked = re.findall(r"^([a-z0-9-]+)==(\S+)", pathlib.Path("requirements.lock").read_text(), re.M)
listed = json.loads(pathlib.Path("dist/sbom.cdx.json").read_text())["components"]
missing = set(locked) - {(one["name"], one["version"]) for one in listed}
if missing or not locked:
    raise SystemExit(f"error: not in the list: {sorted(missing)}")
print(f"dist/sbom.cdx.json: {len(listed)} packages")
CHECK
