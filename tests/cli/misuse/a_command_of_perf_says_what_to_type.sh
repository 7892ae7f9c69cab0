# SPDX-License-Identifier: Apache-2.0
precord sched record -- sleep 1; precord c2c record; preport lock contention; preport sched timehist
