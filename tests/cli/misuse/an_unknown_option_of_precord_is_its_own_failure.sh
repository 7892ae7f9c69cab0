# SPDX-License-Identifier: Apache-2.0
precord --freqs 99 -- true
