import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * The first of `count` free ports in a row, below those that the system gives to outgoing
 * connections.
 */
export async function freePort(count = 1): Promise<number> {
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const first = randomInt(20_000, 32_000);
    const ports = Array.from({ length: count }, (_none, i) => first + i);
    const isFree = await Promise.all(ports.map(canListen));
    if (isFree.every(Boolean)) return first;
  }
  throw new Error(`found no ${count} free ports in a row`);
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
