#!/usr/bin/env bash
# Puts Debian 13's Python 3.13 into FOLDER, for tests that need a newer Python than this machine's:
# FOLDER/usr/bin/python3.13, with the C library that it was built for. Does nothing if it
# is there already.
#
#     tests/support/debian13_python.sh target/debian13
set -euo pipefail
# shellcheck source=tests/support/debian13.sh
. "$(dirname "$0")/debian13.sh"
folder=${1:?usage: debian13_python.sh FOLDER}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
python=$folder/usr/bin/python3.13
if "$python" -c 'import ctypes, ensurepip, sqlite3, ssl, venv' >"$folder/check.log" 2>&1; then
    exit 0
fi

rm -rf "$folder"
unpack_debian13 "$folder" python3.13-venv
# Python detects a venv by the name under which it was called.
mv "$python" "$python.real"
start_by_own_loader "$folder" "$python.real" "$python"
# The folder from which its venvs install pip.
sed -i "s|/usr/share/python-wheels|$folder&|" "$folder"/usr/lib/python3.13/_sysconfigdata_*.py
"$python" -c 'import ctypes, platform, sqlite3, ssl, venv; print("Python", platform.python_version())'
