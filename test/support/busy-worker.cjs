'use strict';
/**
 * A worker process of the build: announces an engine and an API process, takes one job, and keeps
 * its event loop busy for the time that its parent sets. Then it ends the job. It reports each step
 * to its parent.
 */
const { setInterval } = require('node:timers');
const { connectRedisTransport } = require('../../dist/libs/transport/src/index.js');

const { engine, presenceMs, ...options } = JSON.parse(process.argv[2]);
const tell = (message) => process.send(message);

async function main() {
  const transport = await connectRedisTransport(options);
  const { presence, jobs } = transport;
  const announce = () =>
    Promise.all([
      presence.announceEngine(engine, presenceMs),
      presence.announceApi('api-busy', presenceMs),
    ]);
  await announce();
  setInterval(() => void announce(), 500);
  let lost = 0;
  const consumer = jobs.consume('prefill', {
    room: () => 1,
    onJob: (taken) => {
      tell({ kind: 'taken' });
      process.once('message', ({ busyMs }) => {
        // No timer, no message and no reply comes through, and other tests keep the core.
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, busyMs);
        consumer.pause();
        void taken.done().then((isDone) => tell({ kind: 'ended', isDone, lost }));
      });
    },
    onLockLost: () => (lost += 1),
  });
}

void main();
