#!/usr/bin/env bash
# Puts Debian 13's Python 3.13 into FOLDER, for what needs a newer Python than this machine has:
# FOLDER/usr/bin/python3.13, with the C library that it was built for. Nothing is installed, and
# no root is needed. Does nothing where it is there already.
#
#     tests/support/debian13_python.sh target/debian13
#
# Needs a Debian whose keyring knows the keys of Debian 13: 12, since 12.5.
set -euo pipefail
folder=${1:?usage: debian13_python.sh FOLDER}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
python=$folder/usr/bin/python3.13
if "$python" -c 'import ctypes, ensurepip, sqlite3, ssl, venv' >"$folder/check.log" 2>&1; then
    exit 0
fi

rm -rf "$folder"
apt=$folder/apt
mkdir -p "$apt/lists/partial" "$apt/archives/partial"
: >"$apt/status"
# The archive is the one that this machine's packages come from.
# shellcheck disable=SC2016 # the names are apt's, not the shell's
archive=$(apt-get indextargets --format '$(LABEL) $(REPO_URI)' 'Created-By: Packages' |
    awk '$1 == "Debian" && !found { found = $2 } END { print found }')
if [ -z "$archive" ]; then
    echo "debian13_python.sh: apt knows no archive of Debian: run apt-get update" >&2
    exit 1
fi
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
echo "deb [signed-by=$keyring] $archive trixie main" >"$apt/sources.list"
options=(
    -o Dir::Etc::SourceList="$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o Dir::State::Lists="$apt/lists" -o Dir::State::Status="$apt/status"
    -o Dir::Cache::PkgCache= -o Dir::Cache::SrcPkgCache= -o Dir::Cache::Archives="$apt/archives"
    -o APT::Sandbox::User=root -o Debug::NoLocking=1
)
apt-get "${options[@]}" --quiet=2 update
apt-get "${options[@]}" --quiet=2 --no-install-recommends --download-only install python3.13-venv
for package in "$apt"/archives/*.deb; do
    dpkg -x "$package" "$folder"
done
rm -rf "$apt"

# Its C library is newer than the machine's, so that its own loader must start it; under the name
# by which it was called, from which it tells a venv.
mv "$python" "$python.real"
cat >"$python" <<'END'
#!/bin/sh
self=$(readlink -f "$0")
usr=${self%/bin/*}
case $0 in */*) name=$0 ;; *) name=$(command -v "$0") ;; esac
for libraries in "$usr"/lib/*-linux-gnu; do :; done
for loader in "$libraries"/ld-linux-*.so.*; do :; done
exec "$loader" --library-path "$libraries" --argv0 "$name" "$self.real" "$@"
END
chmod +x "$python"
# Where its venvs take pip from.
sed -i "s|/usr/share/python-wheels|$folder&|" "$folder"/usr/lib/python3.13/_sysconfigdata_*.py
"$python" -c 'import ctypes, platform, sqlite3, ssl, venv; print("Python", platform.python_version())'
