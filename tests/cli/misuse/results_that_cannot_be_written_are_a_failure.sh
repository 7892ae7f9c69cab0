# SPDX-License-Identifier: Apache-2.0
preport --help >/dev/full
