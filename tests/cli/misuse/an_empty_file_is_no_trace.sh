# SPDX-License-Identifier: Apache-2.0
: >empty; preport -i empty
