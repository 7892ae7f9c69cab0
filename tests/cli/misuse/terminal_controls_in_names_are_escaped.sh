# SPDX-License-Identifier: Apache-2.0
preport -i "$(printf "a\033[31mb")"
