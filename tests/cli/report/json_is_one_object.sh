#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
"$BUILD/tests/tools/write_trace" precord.trace <"$DATA/report/mix.txt"
preport --by leaf,caller --format=json
preport --by process --format=json -e "*" | python3 -c "import json, sys; print([t[\"event\"] for t in json.load(sys.stdin)[\"tables\"]])"
