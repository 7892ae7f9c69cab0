# SPDX-License-Identifier: Apache-2.0
printf 'prog;main;work 50\n' >a.folded
preport script -i a.folded; echo "status $?"
preport -i a.folded --by leaf --time=1,2; echo "status $?"
preport annotate -i a.folded work; echo "status $?"
preport bundle -i a.folded; echo "status $?"
