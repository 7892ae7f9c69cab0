# SPDX-License-Identifier: Apache-2.0
precord -e cpu-clock,page-fault -- true
precord -e 'cpu-clock,' -- true
precord -e '{cpu-clock,page-faults' -- true
precord -e '{cpu-clock,page-faults}:Q' -- true
