# SPDX-License-Identifier: Apache-2.0
preport -i missing.trace pprof -o out.pb.gz; echo $?; ls
