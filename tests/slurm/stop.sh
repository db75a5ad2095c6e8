#!/usr/bin/env bash
# Stop what start.sh started, each daemon by the pid in its own pid file, and remove its state and configuration.
# The packages stay.
set -uo pipefail
STATE=${STATE:-/tmp/textcritic-slurm}
MARK="# Written by textcritic's tests/slurm/start.sh"

stop() { # stop DAEMON: TERM, and KILL after 10 s
    local file=$STATE/pids/$1 pid i
    [[ -s $file ]] || return 0
    pid=$(<"$file")
    # A stale file may hold the pid of something else by now.
    [[ $(cat "/proc/$pid/comm" 2>/dev/null) == "$1"* ]] || return 0
    kill "$pid"
    for ((i = 0; i < 100; i++)); do
        kill -0 "$pid" 2>/dev/null || return 0
        sleep 0.1
    done
    kill -9 "$pid"
}

grep -qsF "$MARK" /etc/slurm/slurm.conf || exit 0
# The only jobs of this cluster are the test's.
scancel --user="$(id -un)" 2>/dev/null
for ((i = 0; i < 50; i++)); do
    [[ -z $(squeue -h 2>/dev/null) ]] && break
    sleep 0.1
done
stop slurmd
stop slurmctld
stop munged
rm -rf "$STATE" /etc/slurm/slurm.conf /etc/slurm/gres.conf
