# SPDX-License-Identifier: Apache-2.0
precord list page-fualts
echo $?
precord list one two
