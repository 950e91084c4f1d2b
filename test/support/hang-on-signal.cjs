'use strict';
/** Preloaded into a process: SIGUSR2 keeps its event loop busy for ever. */
process.on('SIGUSR2', () => {
  for (;;);
});
