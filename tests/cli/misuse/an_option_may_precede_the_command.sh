# SPDX-License-Identifier: Apache-2.0
preport -i missing.trace folded
