# SPDX-License-Identifier: Apache-2.0
precord -e mem:main -- true
precord -e mem:0x1000/3 -- true
precord -e mem:0x1000:rr -- true
