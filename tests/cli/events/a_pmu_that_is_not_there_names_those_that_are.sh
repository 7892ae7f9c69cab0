# SPDX-License-Identifier: Apache-2.0
precord list --pmu no-such-pmu 2>&1 | head -n 1
precord list --pmu software --format=csv | grep -c '"software"$' | grep -qx 1[0-9] && echo 'its events'
