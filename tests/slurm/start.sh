#!/usr/bin/env bash
# Start a real SLURM of one node on loopback (munged, slurmctld, slurmd), with fake GPUs and without accounting.
# For Debian or Ubuntu, as root; no systemd needed. A second call leaves a running cluster alone.
#
# Exit code 3: it cannot be done on this machine, and the last line says why. 1: it should have worked and did not.
#
#   STATE=DIR   pid files, spool and logs; default /tmp/textcritic-slurm
#   GPUS=N      fake GPUs; default 4
#   CPUS=N      CPUs declared, may exceed the real ones; default 8
#   MEM_MB=N    memory declared, may exceed the real one; default 64000
set -euo pipefail

STATE=${STATE:-/tmp/textcritic-slurm}
GPUS=${GPUS:-4}
CPUS=${CPUS:-8}
MEM_MB=${MEM_MB:-64000}
# The default place, and not SLURM_CONF: Snakemake drops SLURM_* variables before the srun inside a job.
CONF=/etc/slurm
MARK="# Written by textcritic's tests/slurm/start.sh"
HOST=$(uname -n)
HOST=${HOST%%.*}

die() { echo "start.sh: $*" >&2; exit 1; }
cannot() { echo "$*" >&2; exit 3; }
trap 'die "line $LINENO: $BASH_COMMAND failed; see $STATE/log"' ERR
alive() { [[ -s $STATE/pids/$1 && $(cat "/proc/$(<"$STATE/pids/$1")/comm" 2>/dev/null) == "$1"* ]]; }
wait_for() { # wait_for SECONDS COMMAND...
    local i n=$(($1 * 10)); shift
    for ((i = 0; i < n; i++)); do "$@" >/dev/null 2>&1 && return 0; sleep 0.1; done
    return 1
}

# 1. May we? ------------------------------------------------------------------
[[ $EUID -eq 0 ]] || cannot "starting SLURM needs root"
if [[ -e $CONF/slurm.conf ]] && ! grep -qF "$MARK" "$CONF/slurm.conf"; then
    cannot "this machine has a SLURM of its own ($CONF/slurm.conf), which the test leaves alone"
fi
command -v apt-get >/dev/null || cannot "there is no apt-get to install SLURM with"
mkdir -p "$STATE"/{pids,log,ctld,slurmd,gpu}
for ((i = 0; i < GPUS; i++)); do
    [[ -c $STATE/gpu/$i ]] || mknod "$STATE/gpu/$i" c 1 3 2>/dev/null || cannot "device files cannot be made in $STATE"
done

# 2. Packages -----------------------------------------------------------------
missing=()
for package in munge slurm-client slurmctld slurmd; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
done
if ((${#missing[@]})); then
    export DEBIAN_FRONTEND=noninteractive
    install=(apt-get install -y -qq --no-install-recommends -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=120 "${missing[@]}")
    if ! "${install[@]}" >"$STATE/log/apt.log" 2>&1; then # No package lists yet, or stale ones.
        { apt-get update -qq && "${install[@]}"; } >>"$STATE/log/apt.log" 2>&1 ||
            cannot "apt-get cannot install ${missing[*]}: $(tail -1 "$STATE/log/apt.log")"
    fi
fi

# 3. Configuration ------------------------------------------------------------
mkdir -p "$CONF"
cat >"$CONF/slurm.conf" <<CONFEND
$MARK
ClusterName=textcritic
SlurmctldHost=$HOST(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
# Listen on loopback only.
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
StateSaveLocation=$STATE/ctld
SlurmdSpoolDir=$STATE/slurmd
SlurmctldPidFile=$STATE/pids/slurmctld
SlurmdPidFile=$STATE/pids/slurmd
SlurmctldLogFile=$STATE/log/slurmctld.log
SlurmdLogFile=$STATE/log/slurmd.log
# No cgroups: processes are tracked through /proc.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
# As on a strict cluster: a job that uses more memory than it asked for is killed.
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=1
JobAcctGatherParams=OverMemoryKill
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
# Fast turn-around.
SchedulerType=sched/backfill
SchedulerParameters=sched_min_interval=0,bf_interval=1,batch_sched_delay=0
KillWait=2
# Without accounting, squeue must remember finished jobs until Snakemake has asked about them.
MinJobAge=900
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc=$STATE/log/jobcomp.txt
# The declared size may differ from the real one.
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
GresTypes=gpu
DefMemPerCPU=500
NodeName=node01 NodeHostname=$HOST NodeAddr=127.0.0.1 CPUs=$CPUS Boards=1 SocketsPerBoard=1 CoresPerSocket=$CPUS ThreadsPerCore=1 RealMemory=$MEM_MB Gres=gpu:fake:$GPUS State=UNKNOWN
PartitionName=main Nodes=node01 Default=YES MaxTime=1-00:00:00 State=UP
CONFEND

cat >"$CONF/gres.conf" <<CONFEND
$MARK
AutoDetect=off
NodeName=node01 Name=gpu Type=fake Flags=nvidia_gpu_env File=$STATE/gpu/[0-$((GPUS - 1))]
CONFEND

# 4. Daemons ------------------------------------------------------------------
if ! munge -n >/dev/null 2>&1; then
    install -d -o munge -g munge -m 0755 /run/munge
    install -d -o munge -g munge -m 0700 /var/log/munge /var/lib/munge
    [[ -s /etc/munge/munge.key ]] || runuser -u munge -- /usr/sbin/mungekey --create
    runuser -u munge -- /usr/sbin/munged
    wait_for 10 munge -n || die "munged did not start"
    cp /run/munge/munged.pid "$STATE/pids/munged"
fi
alive slurmctld || slurmctld -c
wait_for 20 scontrol ping || die "slurmctld did not start"
alive slurmd || slurmd
wait_for 20 bash -c 'sinfo -h -n node01 -o %T | grep -qE "^(idle|mixed|allocated)$"' || {
    tail -5 "$STATE"/log/slurm*d.log >&2
    die "node01 did not come up: $(sinfo -h -N -l)"
}
sinfo -h -o '%P %D node, %c CPUs, %m MB, %G'
