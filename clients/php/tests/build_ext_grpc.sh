#!/usr/bin/env bash
# Builds ext-grpc for this machine's PHP from Debian's source package "grpc", into
# FOLDER/modules/grpc.so. Does nothing if that file exists.
#
#     tests/build_ext_grpc.sh ../../target/php-grpc
#
# Needs libgrpc-dev, php-dev, dpkg-dev and a compiler. The package list comes from the
# machine's own package sources; apt's settings do not change.
set -euo pipefail
folder=${1:?usage: build_ext_grpc.sh FOLDER}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
module=$folder/modules/grpc.so
if php -n -d extension="$module" -r 'exit((int) !extension_loaded("grpc"));' >"$folder/check.log" 2>&1; then
    exit 0
fi

apt=$folder/apt
mkdir -p "$apt/lists/partial"
# shellcheck disable=SC2016 # the names are apt's, not the shell's
apt-get indextargets --format '$(ORIGIN) $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    awk '$1 == "Debian" || $1 == "Ubuntu" { print "deb-src", $2, $3, $4 }' | sort -u >"$apt/sources.list"
options=(
    -o Dir::Etc::SourceList="$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o Dir::State::Lists="$apt/lists" -o Dir::Cache::PkgCache= -o Dir::Cache::SrcPkgCache=
    -o APT::Sandbox::User=root
)
apt-get "${options[@]}" --quiet=2 update

source=$folder/source
rm -rf "$source"
mkdir -p "$source"
version=$(dpkg-query --show --showformat '${source:Version}' libgrpc-dev)
(cd "$source" && apt-get "${options[@]}" --quiet=2 source "grpc=$version")

cd "$source"/grpc-*/src/php/ext/grpc
phpize
./configure --quiet --enable-grpc="$(pkg-config --variable=prefix grpc)"
make --quiet --jobs="$(nproc)" >"$folder/make.log" 2>&1 || { tail -30 "$folder/make.log" >&2; exit 1; }
mkdir -p "$folder/modules"
cp modules/grpc.so "$module"
rm -rf "$source" "$apt"
php -n -d extension="$module" -r 'echo "ext-grpc ", phpversion("grpc"), PHP_EOL;'
