# SPDX-License-Identifier: Apache-2.0
preport info --sizes --comm=tree
