# SPDX-License-Identifier: Apache-2.0
precord -F 0 -o t -- true; echo $?; ls
