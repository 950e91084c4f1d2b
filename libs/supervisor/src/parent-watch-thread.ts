import { Socket } from 'node:net';

/** The pipe that the supervisor holds open and never writes to. */
const PIPE = 4;
/** Time for a process with a free event loop to end in order after the death of its supervisor. */
const KILL_AFTER_MS = 3_000;

new Socket({ fd: PIPE, readable: true, writable: false })
  .on('error', () => undefined)
  .once('close', () => setTimeout(() => process.kill(process.pid, 'SIGKILL'), KILL_AFTER_MS))
  .resume();
