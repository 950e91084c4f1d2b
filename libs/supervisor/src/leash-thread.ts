import { Socket } from 'node:net';

/** The thread of the leash reads the pipe that its supervisor holds open and never writes to. */
const PIPE = 4;
/** A process with a free event loop ends in order within this time of its supervisor's death. */
const LAST_WORDS_MS = 3_000;

new Socket({ fd: PIPE, readable: true, writable: false })
  .on('error', () => undefined)
  .once('close', () => setTimeout(() => process.kill(process.pid, 'SIGKILL'), LAST_WORDS_MS))
  .resume();
