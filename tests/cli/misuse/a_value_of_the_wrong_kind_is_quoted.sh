# SPDX-License-Identifier: Apache-2.0
preport --limit=ten
