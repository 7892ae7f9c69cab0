# SPDX-License-Identifier: Apache-2.0
mkdir d; preport -i d
