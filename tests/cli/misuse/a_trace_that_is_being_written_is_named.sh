# SPDX-License-Identifier: Apache-2.0
: >run.trace.part
preport -i run.trace
