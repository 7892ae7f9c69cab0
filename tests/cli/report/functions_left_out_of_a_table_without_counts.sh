#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Such a table has fewer columns, and the line of what is left out fits it.
preport -i "$DATA/import/callgrind.out" --by total --limit 2
preport -i "$DATA/import/callgrind.out" --by total,line --limit 2
preport -i "$DATA/import/callgrind.out" --limit 2
