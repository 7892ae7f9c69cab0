# SPDX-License-Identifier: Apache-2.0
preport waits --by next_comm
