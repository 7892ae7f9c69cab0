# SPDX-License-Identifier: Apache-2.0
# Whether they can be used depends on the machine.
precord list --format=csv 'page-faults' | cut -d, -f1,3-
precord list --format=csv 'cs' | grep '^software' | cut -d, -f1,3-
