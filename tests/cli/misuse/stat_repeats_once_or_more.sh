# SPDX-License-Identifier: Apache-2.0
precord stat -r 0 -- true
