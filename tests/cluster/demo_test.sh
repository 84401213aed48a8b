#!/usr/bin/env bash
# The demo's own end-to-end checks, small.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/free_port.sh"
free_port
"$here/../../deploy/install-packages" demo
exec "$here/../../deploy/demo" --once --http-port "$port" --sites 20 --accounts 300 --nodes 2
