import { Session } from 'node:inspector';
import { setTimeout as sleep } from 'node:timers/promises';
import { workerData } from 'node:worker_threads';
import {
  CALL,
  type CallCell,
  LOOK_MS,
  MOST_LOOKS,
  notePlace,
  PAUSE_MS,
  setReady,
} from './call-cell';
import { placeOfCode } from './place-of-code';

// Looks at the call under way of the main thread, and ends the code that runs there when the call
// is the same for too long. Looks are counted instead of time, so a pause of the process ends no
// call.

const cell = workerData as CallCell;
void watch();

async function watch(): Promise<void> {
  let seen = 0;
  let looks = 0;
  setReady(cell);
  for (;;) {
    const call = Atomics.load(cell, CALL);
    looks = call === seen ? looks + 1 : 0;
    seen = call;
    const isSilent = call > 0 && looks > Atomics.load(cell, MOST_LOOKS);
    if (isSilent && Atomics.compareExchange(cell, CALL, call, -call) === call) {
      await endCode();
      Atomics.store(cell, CALL, 0);
    }
    await sleep(Atomics.load(cell, LOOK_MS));
  }
}

async function endCode(): Promise<void> {
  const session = new Session();
  session.connectToMainThread();
  notePlace(cell, await placeOfCode(session, Atomics.load(cell, PAUSE_MS)));
  const ended = new Promise<void>((resolve) => {
    session.post('Runtime.terminateExecution', () => resolve());
  });
  session.post('Debugger.disable');
  await ended;
  session.disconnect();
}
