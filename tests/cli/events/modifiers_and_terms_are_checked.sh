# SPDX-License-Identifier: Apache-2.0
precord -e cpu-clock:q -- true
precord -e cpu-clock:pppp -- true
precord -e cpu-clock/period=0/ -- true
precord -e cpu-clock/perid=1/ -- true
precord -e cpu-clock/stack-size=70000/ -- true
precord -e cpu-clock/call-graph=lbr/ -- true
