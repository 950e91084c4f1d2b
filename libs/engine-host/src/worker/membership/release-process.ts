import { STAGES } from '@baton/contract';
import type { ProcessId, Transport } from '@baton/transport';
import { engineQueue, sharedQueue } from '../../routing/job-routing';

/**
 * A worker process has ended without leaving: its engines leave the cluster, and others run its
 * jobs at once, before the leases of the process end.
 */
export async function releaseProcess(
  { presence, jobs }: Pick<Transport, 'presence' | 'jobs'>,
  ended: ProcessId,
): Promise<void> {
  const engines = await presence.engines();
  const own = engines.filter(({ host, pid }) => host === ended.host && pid === ended.pid);
  const queues = own.flatMap(({ engineId, dataParallel }) => [
    engineQueue(engineId),
    ...STAGES.map((stage) => sharedQueue(stage, undefined)),
    ...STAGES.map((stage) => sharedQueue(stage, dataParallel?.rank)),
  ]);
  await Promise.all(own.map(({ engineId }) => presence.removeEngine(engineId)));
  await Promise.all([...new Set(queues)].map((queue) => jobs.release(queue, ended)));
}
