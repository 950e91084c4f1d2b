import { once } from 'node:events';
import { createServer } from 'node:net';
import { type BatonConfig, UsageError } from '@baton/config';
import { Failure } from '@baton/kernel';

const IN_USE = 'EADDRINUSE';

/**
 * The port a server will listen on: the configured one when it is free, or a free one for 0.
 *
 * @throws Failure naming the port that is taken, or the address that is not this machine's
 */
export function claimPort({ host, port }: Pick<BatonConfig, 'host' | 'port'>): Promise<number> {
  return tryListen(host, port, '--port');
}

/** The same for the health and the metrics of a worker process. */
export function claimWorkerPort({
  workerHost,
  workerPort,
}: Pick<BatonConfig, 'workerHost' | 'workerPort'>): Promise<number> {
  return tryListen(workerHost, workerPort, '--worker-port');
}

/** Checks the ports of `engines` exposed engines. @throws as `claimPort` */
export async function checkEnginePorts(config: BatonConfig, engines: number): Promise<void> {
  const first = config.exposeEnginesPort;
  if (first + engines - 1 > 65_535) {
    throw new UsageError(
      `${engines} engines do not fit between --expose-engines-port ${first} and 65535.`,
    );
  }
  for (let i = 0; i < engines; i += 1) {
    await tryListen(config.host, first + i, '--expose-engines-port');
  }
}

async function tryListen(host: string, port: number, flag: string): Promise<number> {
  const probe = createServer();
  try {
    probe.listen(port, host);
    await once(probe, 'listening');
    const address = probe.address();
    return typeof address === 'object' && address !== null ? address.port : port;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    if (code === IN_USE) {
      throw new Failure(`port ${port} on ${host} is already taken; choose another with ${flag}.`);
    }
    throw new Failure(`cannot listen on ${host}:${port} (${code}). Change --host or ${flag}.`);
  } finally {
    probe.close();
  }
}
