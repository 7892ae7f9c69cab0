# SPDX-License-Identifier: Apache-2.0
precord -e zzzzzzzzzzzz -- true
