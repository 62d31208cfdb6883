#!/bin/sh
# SPDX-License-Identifier: MIT
# What tests need from the system: Chromium and its driver, fish, zsh, and a drawing context without a screen.
# Run once, before the test workers start, because two of them would fight for apt's lock. Says nothing where all is there.
# Where it cannot install (no apt-get, no rights, no network), it says what is missing and leaves it to the tests: they skip
# what they cannot run, or fail if CI is set.
set -u
missing=""
command -v chromium >/dev/null || missing="$missing chromium"
command -v chromedriver >/dev/null || missing="$missing chromium-driver"
command -v fish >/dev/null || missing="$missing fish"
command -v zsh >/dev/null || missing="$missing zsh"
PATH="$PATH:/sbin:/usr/sbin" ldconfig -p 2>/dev/null | grep -q 'libEGL_mesa\.so' || missing="$missing libegl1 libegl-mesa0"
[ -z "$missing" ] && exit 0

log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
wait_for_lock="-o DPkg::Lock::Timeout=600"
# shellcheck disable=SC2086 # the names are words of their own
if ! { apt-get $wait_for_lock update && apt-get $wait_for_lock install -y --no-install-recommends $missing; } >"$log" 2>&1; then
    echo "tests miss$missing, which could not be installed: $(tail -n 1 "$log")" >&2
fi
