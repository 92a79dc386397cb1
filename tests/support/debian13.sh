# shellcheck shell=bash
# Functions for programs of Debian 13 on a machine with another Debian; to be sourced. Nothing
# is installed, and no root is needed.
#
# Needs a Debian whose keyring has the keys of Debian 13: Debian 12.5 or later.

# Unpacks packages of Debian 13, and all that they depend on, into an empty FOLDER.
unpack_debian13() {
    local folder=$1 archive package
    shift
    local apt=$folder/apt keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    mkdir -p "$apt/lists/partial" "$apt/archives/partial"
    : >"$apt/status"
    # Uses the archive of this machine's own packages.
    # shellcheck disable=SC2016 # the names are apt's, not the shell's
    archive=$(apt-get indextargets --format '$(LABEL) $(REPO_URI)' 'Created-By: Packages' |
        awk '$1 == "Debian" && !found { found = $2 } END { print found }')
    if [ -z "$archive" ]; then
        echo "${0##*/}: apt knows no archive of Debian: run apt-get update" >&2
        exit 1
    fi
    echo "deb [signed-by=$keyring] $archive trixie main" >"$apt/sources.list"
    local options=(
        -o Dir::Etc::SourceList="$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null
        -o Dir::State::Lists="$apt/lists" -o Dir::State::Status="$apt/status"
        -o Dir::Cache::PkgCache= -o Dir::Cache::SrcPkgCache= -o Dir::Cache::Archives="$apt/archives"
        -o APT::Sandbox::User=root -o Debug::NoLocking=1
    )
    apt-get "${options[@]}" --quiet=2 update
    apt-get "${options[@]}" --quiet=2 --no-install-recommends --download-only install "$@"
    for package in "$apt"/archives/*.deb; do
        dpkg -x "$package" "$folder"
    done
    rm -rf "$apt"
}

# Writes SCRIPT, which starts PROGRAM of an unpacked FOLDER under the name by which the script was
# called. The C library of the program is newer than the machine's, so its own loader must start it.
start_by_own_loader() {
    local folder=$1 program=$2 script=$3
    cat >"$script" <<END
#!/bin/sh
case \$0 in */*) name=\$0 ;; *) name=\$(command -v "\$0") ;; esac
for libraries in "$folder"/usr/lib/*-linux-gnu; do :; done
for loader in "\$libraries"/ld-linux-*.so.*; do :; done
exec "\$loader" --library-path "\$libraries" --argv0 "\$name" "$program" "\$@"
END
    chmod +x "$script"
}
