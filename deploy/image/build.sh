#!/usr/bin/env bash
# Builds the image: `deploy/image/build.sh [NAME:TAG]`, by default offbeat:VERSION.
set -euo pipefail
cd "$(dirname "$0")/../.."
deploy/image/prepare.sh
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
revision=$(git rev-parse HEAD 2>/dev/null || echo unknown)
# The timestamp of the commit, so that the same commit gives the same layers.
created=$(git log -1 --format=%ct 2>/dev/null || echo 0)
# Docker's format: OCI's own has no HEALTHCHECK.
podman build --quiet --layers=false --format docker --timestamp "$created" \
    --build-arg VERSION="$version" --build-arg REVISION="$revision" \
    --file deploy/image/Containerfile --tag "${1:-offbeat:$version}" target/image
