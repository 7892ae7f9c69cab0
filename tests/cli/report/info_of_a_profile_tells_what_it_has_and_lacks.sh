# SPDX-License-Identifier: Apache-2.0
printf 'prog;main;work 50\nprog;main;rest 7\n' >a.folded
preport info -i a.folded
preport info -i a.folded --symbol rest --format json
preport info -i a.folded --format csv
