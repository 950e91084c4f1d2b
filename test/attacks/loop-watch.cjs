/* global setInterval */
// Required by every process of the attacked cluster. Records the longest time for which the event
// loop was held, in CPU time, which does not depend on other load. Also records the longest time
// for which the loop waited for a CPU, which shows the other load. Linux reports both for a thread
// in ns (Documentation/scheduler/sched-stats.rst, /proc/<pid>/schedstat, first two fields). When
// asked, it collects garbage and writes the memory that remains in use.
const { closeSync, openSync, readSync, renameSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { setFlagsFromString } = require('node:v8');
const { runInNewContext } = require('node:vm');
const { isMainThread } = require('node:worker_threads');

const LOOK_EVERY_MS = 1;
const WRITE_EVERY_MS = 50;

const folder = process.env.LOOP_WATCH_FOLDER;
if (folder !== undefined && isMainThread) watch(join(folder, String(process.pid)));

/** A reader finds the whole text or none. */
function writeWhole(path, text) {
  writeFileSync(`${path}.part`, text);
  renameSync(`${path}.part`, path);
}

function watch(path) {
  const file = openSync('/proc/self/schedstat', 'r');
  const buffer = Buffer.alloc(64);
  const read = () => {
    // Brings the counters up to date, which the kernel otherwise does once per tick of 4 ms
    // (`thread_group_cputime`, kernel/sched/cputime.c).
    process.cpuUsage();
    const length = readSync(file, buffer, 0, 64, 0);
    const [cpuNs, waitNs] = buffer.toString('latin1', 0, length).split(' ');
    return { heldMs: Number(cpuNs) / 1e6, waitedMs: Number(waitNs) / 1e6 };
  };
  let before = read();
  let longest = { heldMs: 0, waitedMs: 0 };
  let written = '';
  setInterval(() => {
    const now = read();
    for (const name of Object.keys(now)) {
      longest[name] = Math.max(longest[name], now[name] - before[name]);
    }
    before = now;
  }, LOOK_EVERY_MS).unref();
  setInterval(() => {
    const text = JSON.stringify(longest);
    if (text === written) return;
    written = text;
    writeWhole(path, text);
  }, WRITE_EVERY_MS).unref();
  // The test starts a new measurement.
  process.on('SIGUSR2', () => {
    before = read();
    longest = { heldMs: 0, waitedMs: 0 };
  });
  process.on('SIGWINCH', () => {
    setFlagsFromString('--expose-gc');
    runInNewContext('gc')();
    const { heapUsed, external } = process.memoryUsage();
    writeWhole(`${path}.memory`, String(heapUsed + external));
  });
  process.once('exit', () => closeSync(file));
}
