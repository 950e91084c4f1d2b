package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Of /proc: USER_HZ is 100 on every Linux.
const ticksPerSecond = 100

// statOf is the fields of a process behind its name; nil when it is gone.
func statOf(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	return strings.Fields(string(text[bytes.LastIndexByte(text, ')')+2:]))
}

// treeOf is the processes of these roots and of all that they have started.
func treeOf(roots []int) []int {
	children := map[int][]int{}
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if stat := statOf(pid); stat != nil {
			parent, _ := strconv.Atoi(stat[1])
			children[parent] = append(children[parent], pid)
		}
	}
	tree := append([]int{}, roots...)
	for i := 0; i < len(tree); i++ {
		tree = append(tree, children[tree[i]]...)
	}
	return tree
}

// cpuSeconds is the user and system time of these processes so far.
func cpuSeconds(pids []int) float64 {
	ticks := 0.0
	for _, pid := range pids {
		stat := statOf(pid)
		if stat == nil {
			continue
		}
		user, _ := strconv.ParseFloat(stat[11], 64)
		system, _ := strconv.ParseFloat(stat[12], 64)
		ticks += user + system
	}
	return ticks / ticksPerSecond
}

// pssMiB is the memory of these processes, what they share counted once.
func pssMiB(pids []int) float64 {
	kib := 0.0
	for _, pid := range pids {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		for _, line := range strings.Split(string(text), "\n") {
			if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "Pss:" {
				value, _ := strconv.ParseFloat(fields[1], 64)
				kib += value
			}
		}
	}
	return kib / 1024
}

// machineSeconds is the CPU time of everything on the machine.
func machineSeconds() float64 {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text[:bytes.IndexByte(text, '\n')]))
	ticks := 0.0
	// user, nice, system, irq, softirq
	for _, at := range []int{1, 2, 3, 6, 7} {
		value, _ := strconv.ParseFloat(fields[at], 64)
		ticks += value
	}
	return ticks / ticksPerSecond
}

func ownSeconds() float64 {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return seconds(usage.Utime) + seconds(usage.Stime)
}
