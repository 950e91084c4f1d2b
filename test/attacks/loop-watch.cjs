/* global setInterval */
// Required by every process of the attacked cluster. Notes the longest time for which the event loop
// was held, in CPU time: how busy the machine is does not matter. Linux tells the CPU time of a
// thread in ns (Documentation/scheduler/sched-stats.rst, /proc/<pid>/schedstat, first field).
const { closeSync, openSync, readSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { isMainThread } = require('node:worker_threads');

const LOOK_EVERY_MS = 1;
const WRITE_EVERY_MS = 50;

const folder = process.env.LOOP_WATCH_FOLDER;
if (folder !== undefined && isMainThread) watch(join(folder, String(process.pid)));

function watch(path) {
  const file = openSync('/proc/self/schedstat', 'r');
  const buffer = Buffer.alloc(64);
  const cpuMs = () => {
    const length = readSync(file, buffer, 0, 64, 0);
    return Number(buffer.toString('latin1', 0, length).split(' ')[0]) / 1e6;
  };
  let beforeMs = cpuMs();
  let longestMs = 0;
  let writtenMs = -1;
  setInterval(() => {
    const nowMs = cpuMs();
    longestMs = Math.max(longestMs, nowMs - beforeMs);
    beforeMs = nowMs;
  }, LOOK_EVERY_MS).unref();
  setInterval(() => {
    if (longestMs === writtenMs) return;
    writtenMs = longestMs;
    writeFileSync(path, `${longestMs}`);
  }, WRITE_EVERY_MS).unref();
  // The test begins a row.
  process.on('SIGUSR2', () => {
    beforeMs = cpuMs();
    longestMs = 0;
  });
  process.once('exit', () => closeSync(file));
}
