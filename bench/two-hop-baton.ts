import type { EngineJob } from '@baton/contract';
import {
  channels,
  connectRedisTransport,
  type HandoffRecord,
  type TakenJob,
  type Transport,
} from '@baton/transport';
import { BLOCK_HASHES, type Hop, PARAMS, RESULT, type Sender, type TwoHop } from './two-hop';

/**
 * The same two hops over Baton's transport, with all its safeguards: admission, epochs, hand-over
 * record, result.
 */
export const batonTwoHop: TwoHop = { openSender, startWorker };

const API = 'bench';
const ROOM = 64;

async function openSender(url: string): Promise<Sender> {
  const transport = await connectRedisTransport({ url });
  await transport.presence.announceApi(API, 600_000);
  let batch: EngineJob[] = [];
  const flush = (): void => {
    const jobs = batch;
    batch = [];
    void transport.jobs.add('prefill', jobs);
  };
  return {
    send: (id) => {
      if (batch.length === 0) setImmediate(flush);
      batch.push(jobOf(id));
    },
    onBack: async (listener) => {
      await transport.bus.subscribe(channels.api(API), (payload) => listener(payload.toString()));
    },
    close: () => transport.close(),
  };
}

async function startWorker(url: string, hop: Hop): Promise<void> {
  const transport = await connectRedisTransport({ url });
  const running = new Set<TakenJob>();
  const carryOn = hop === 'first' ? prefill : decode;
  transport.jobs.consume(hop === 'first' ? 'prefill' : 'decode', {
    begins: {
      stage: hop === 'first' ? 'prefill' : 'decode',
      engineId: `bench-${process.pid}`,
      maxRuns: 3,
    },
    room: () => ROOM - running.size,
    onJob: (job) => {
      running.add(job);
      void carryOn(transport, job, () => running.delete(job));
    },
    onLockLost: (job) => running.delete(job),
  });
}

async function prefill(_transport: Transport, taken: TakenJob, release: () => void): Promise<void> {
  const { job, permit } = taken;
  if (permit?.kind !== 'run') return;
  const { epoch } = permit;
  const handoff: HandoffRecord = { params: PARAMS, generation: 1, heldUs: 1, epoch };
  const next = { queue: 'decode', job } as const;
  const handedOver = taken.handOver({ epoch, handoff, next, leaves: true });
  release();
  await handedOver;
}

async function decode(transport: Transport, taken: TakenJob, release: () => void): Promise<void> {
  const { job, permit } = taken;
  if (permit?.kind !== 'run') return;
  const finished = taken.finishJob({ epoch: permit.epoch, result: RESULT });
  transport.bus.publish(channels.api(API), Buffer.from(job.requestId));
  release();
  await finished;
}

function jobOf(requestId: string): EngineJob {
  return {
    requestId,
    submission: 1,
    apiId: API,
    streamId: 1,
    causeUs: 1,
    arrivalUs: 1,
    promptTokens: 1_024,
    blockHashes: BLOCK_HASHES,
    outputTokens: 1,
    endReason: 'length',
    maxTokens: 1,
    priority: 0,
    flow: 'route',
  };
}
