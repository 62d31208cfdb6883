#!/bin/sh
# SPDX-License-Identifier: MIT
# Debian's Chromium and its driver, for the browser tests; does nothing where both are there. Needs apt-get and its rights.
set -eu
if [ -x /usr/bin/chromium ] && [ -x /usr/bin/chromedriver ]; then
    exit 0
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update
apt-get install -y --no-install-recommends chromium chromium-driver
