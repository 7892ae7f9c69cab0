# SPDX-License-Identifier: Apache-2.0
# No process has a number this large.
precord list usdt -p 999999999
