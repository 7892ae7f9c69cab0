# SPDX-License-Identifier: Apache-2.0
mkdir d; precord -q -o d/none/t -- true; echo $?
