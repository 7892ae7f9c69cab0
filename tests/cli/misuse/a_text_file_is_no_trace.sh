# SPDX-License-Identifier: Apache-2.0
echo "hello, this is not a trace at all" >text; preport -i text
