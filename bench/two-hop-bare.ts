import { connectRedisTransport, type RequestLedger } from '@baton/transport';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { BLOCK_HASHES, type Hop, PARAMS, RESULT, type Sender, type TwoHop } from './two-hop';

/**
 * Two BullMQ queues as in its guide, and a pub/sub message back: the minimum for two hops over
 * Redis.
 */
export const bareTwoHop: TwoHop = { openSender, startWorker: (url, hop) => startWorker(url, hop) };

/** The same with the steps of Baton's ledger, each a call of its own beside BullMQ's. */
export const publicTwoHop: TwoHop = {
  openSender,
  startWorker: async (url, hop) =>
    startWorker(url, hop, (await connectRedisTransport({ url })).ledger),
};

const PREFIX = '{control}';
const BACK = 'control:back';
const CONCURRENCY = 64;
const KEEP_NOTHING = { removeOnComplete: true, removeOnFail: true };

interface Payload {
  readonly id: string;
  readonly blockHashes: readonly number[];
}

function connect(url: string): Redis {
  const path = url.replace(/^unix:/, '');
  return new Redis(path, { maxRetriesPerRequest: null });
}

async function openSender(url: string): Promise<Sender> {
  const connection = connect(url);
  const subscriber = connect(url);
  const queue = new Queue<Payload>('first', { connection, prefix: PREFIX });
  await queue.waitUntilReady();
  return {
    send: (id) =>
      void queue.add('run', { id, blockHashes: BLOCK_HASHES }, { jobId: id, ...KEEP_NOTHING }),
    onBack: async (listener) => {
      subscriber.on('message', (_channel: string, id: string) => listener(id));
      await subscriber.subscribe(BACK);
    },
    close: async () => {
      await queue.close();
      connection.disconnect();
      subscriber.disconnect();
    },
  };
}

async function startWorker(url: string, hop: Hop, ledger?: RequestLedger): Promise<void> {
  const connection = connect(url);
  const next = new Queue<Payload>('second', { connection, prefix: PREFIX });
  const carryOn = async ({ data }: { data: Payload }): Promise<void> => {
    const epoch = await begin(data.id, hop, ledger);
    if (hop === 'first') {
      await ledger?.handOff(data.id, epoch, { params: PARAMS, generation: 1, heldUs: 1, epoch });
      await next.add('run', data, { jobId: data.id, ...KEEP_NOTHING });
    } else {
      await ledger?.finishRequest(data.id, epoch, RESULT);
      await connection.publish(BACK, data.id);
    }
  };
  const worker = new Worker<Payload>(hop, carryOn, {
    connection,
    prefix: PREFIX,
    concurrency: CONCURRENCY,
  });
  await worker.waitUntilReady();
}

async function begin(requestId: string, hop: Hop, ledger?: RequestLedger): Promise<number> {
  const permit = await ledger?.begin({
    requestId,
    submission: 1,
    apiId: 'bench',
    engineId: `bench-${process.pid}`,
    stage: hop === 'first' ? 'prefill' : 'decode',
    maxRuns: 3,
  });
  return permit?.kind === 'run' ? permit.epoch : 0;
}
