# SPDX-License-Identifier: Apache-2.0
precord -e intel_pt//u -- true
precord -e arm_spe_0/ts_enable=1/ -- true
precord --call-graph lbr -- true
precord -g lbr -- true
precord -ns -- true
precord stat -j --duration 1h -x , -- true
