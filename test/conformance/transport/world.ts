import { randomUUID } from 'node:crypto';
import type { EngineJob, KvTransferParams } from '@baton/contract';
import {
  attachInProcess,
  connectRedisTransport,
  DEFAULT_TIMES,
  type ConsumeOptions,
  type HandoffRecord,
  InProcessHub,
  type JobConsumer,
  type QueueName,
  type RunClaim,
  type RunStart,
  type TakenJob,
  type Transport,
  type TransportTimes,
} from '@baton/transport';
import { Redis } from 'ioredis';
import { waitUntil } from '../../support/wait';
import { PATIENT, type PrivateRedis } from '../../support/redis-server';

/** A broker of one test with any number of attached processes, and its possible faults. */
export interface World {
  /** The prefix of its keys. */
  readonly prefix: string;
  connect(): Promise<Transport>;
  /** Stops the broker, which loses its data. */
  kill(): Promise<void>;
  /** Starts it again, empty. */
  restart(): Promise<void>;
  /** Breaks all connections, which may reconnect at once. Only messages are lost. */
  breakConnections(): Promise<void>;
  /** Resolves when so many idle and busy consumers with room wait for a job of the queue. */
  untilWaiting(queue: QueueName, idle: number, busy: number): Promise<void>;
  close(): Promise<void>;
}

export type WorldFactory = (times?: Partial<TransportTimes>) => World;

/** For tests that wait for locks to expire. They count awake time, so no stall ends one. */
export const SHORT_LOCKS: TransportTimes = {
  ...DEFAULT_TIMES,
  lockMs: 600,
  lockRenewMs: 150,
  stalledCheckMs: 100,
};

/** The same for locks in Redis, whose time goes on: they outlast a stall of its process. */
export const SHORT_REDIS_LOCKS: TransportTimes = {
  ...DEFAULT_TIMES,
  ...PATIENT,
  lockMs: 3_500,
  lockRenewMs: 400,
  stalledCheckMs: 100,
};

export function inProcessWorld(times: Partial<TransportTimes> = {}): World {
  const hub = new InProcessHub(times);
  const transports: Transport[] = [];
  return {
    prefix: '',
    connect: async () => {
      const transport = await Promise.resolve(attachInProcess(hub));
      transports.push(transport);
      return transport;
    },
    kill: () => Promise.resolve(hub.goAway()),
    restart: () => Promise.resolve(hub.comeBack({ withoutData: true })),
    breakConnections: async () => {
      hub.goAway();
      await Promise.resolve();
      hub.comeBack();
    },
    // A consumer waits as soon as it has joined; deliveries come with the next turn.
    untilWaiting: () => new Promise((resolve) => setImmediate(resolve)),
    close: async () => {
      await Promise.all(transports.map((transport) => transport.close()));
    },
  };
}

export function redisWorld(server: PrivateRedis, times: Partial<TransportTimes> = {}): World {
  const prefix = `test-${randomUUID().slice(0, 8)}`;
  const transports: Transport[] = [];
  const losses = new Map<Transport, number>();
  return {
    prefix,
    connect: async () => {
      const own = { ...PATIENT, ...times };
      const transport = await connectRedisTransport({ url: server.url, prefix, times: own });
      transports.push(transport);
      losses.set(transport, 0);
      transport.onConnection((event) => {
        if (event === 'lost') losses.set(transport, (losses.get(transport) ?? 0) + 1);
      });
      return transport;
    },
    kill: async () => {
      await server.kill();
      await waitUntil(() => transports.every((transport) => !transport.isConnected), {
        what: 'all transports have noticed the loss',
      });
    },
    restart: () => server.start(),
    breakConnections: async () => {
      const before = new Map(losses);
      await withAdmin(server, async (admin) => {
        await admin.client('KILL', 'TYPE', 'pubsub');
        await admin.client('KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      });
      await waitUntil(
        () => [...losses].every(([transport, count]) => count > (before.get(transport) ?? 0)),
        { what: 'all transports have noticed the break' },
      );
    },
    untilWaiting: (queue, idle, busy) =>
      withAdmin(server, async (admin) => {
        const places = `{${prefix}}:queue:${queue.replace(':', '%3A')}:takers`;
        const count = (from: string, to: string): Promise<number> => admin.zcount(places, from, to);
        const isSo = async (): Promise<boolean> =>
          (await count('-inf', '(4e15')) === idle && (await count('4e15', '+inf')) === busy;
        await waitUntil(isSo, { what: `${idle} idle and ${busy} busy consumers wait` });
      }),
    close: async () => {
      await Promise.all(transports.map((transport) => transport.close()));
    },
  };
}

export async function withAdmin<T>(
  server: PrivateRedis,
  act: (admin: Redis) => Promise<T>,
): Promise<T> {
  const admin = new Redis(server.socketPath);
  try {
    return await act(admin);
  } finally {
    admin.disconnect();
  }
}

/** The effect of SIGSTOP: the process stops. */
export function freeze(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** The jobs that one consumer took and lost. */
export class Taking {
  readonly taken: TakenJob[] = [];
  readonly lost: TakenJob[] = [];
  readonly consumer: JobConsumer;
  room: number;

  constructor(
    transport: Transport,
    readonly queue: QueueName,
    options: {
      readonly room?: number;
      readonly isIdle?: boolean;
      readonly begins?: RunClaim;
      readonly onJob?: (job: TakenJob) => void;
    } = {},
  ) {
    this.room = options.room ?? 1_000;
    const consume: ConsumeOptions = {
      ...(options.begins && { begins: options.begins }),
      isIdle: () => options.isIdle === true,
      room: () => this.room,
      onJob: (job) => {
        this.room -= 1;
        this.taken.push(job);
        options.onJob?.(job);
      },
      onLockLost: (job) => this.lost.push(job),
    };
    this.consumer = transport.jobs.consume(queue, consume);
  }

  get ids(): string[] {
    return this.taken.map(({ job }) => job.requestId);
  }

  get lostIds(): string[] {
    return this.lost.map(({ job }) => job.requestId);
  }

  async untilTaken(count: number): Promise<void> {
    await waitUntil(() => this.taken.length >= count, {
      what: `${count} jobs are taken (${this.taken.length} are)`,
    });
  }

  first(): TakenJob {
    const job = this.taken[0];
    if (job === undefined) throw new Error('no job was taken');
    return job;
  }
}

export function job(requestId: string, over: Partial<EngineJob> = {}): EngineJob {
  return {
    requestId,
    submission: 1,
    apiId: 'api-a',
    streamId: 1,
    causeUs: 0,
    arrivalUs: 0,
    promptTokens: 32,
    blockHashes: [11, 12],
    outputTokens: 4,
    endReason: 'stop',
    maxTokens: 16,
    priority: 0,
    flow: 'route',
    ...over,
  };
}

export function jobs(count: number, over: Partial<EngineJob> = {}): EngineJob[] {
  return Array.from({ length: count }, (_, i) => job(`r${i}`, over));
}

export function start(over: Partial<RunStart> = {}): RunStart {
  return {
    requestId: 'r',
    submission: 1,
    stage: 'prefill',
    engineId: 'engine-a',
    apiId: 'api-a',
    maxRuns: 3,
    ...over,
  };
}

const PARAMS: KvTransferParams = {
  do_remote_prefill: true,
  do_remote_decode: false,
  remote_block_ids: [[1, 2, 3]],
  remote_engine_id: 'engine-a',
  remote_request_id: 'r',
  remote_host: 'localhost',
  remote_port: 5600,
  tp_size: 1,
  remote_num_tokens: 32,
  remote_blocks_expiry_time: null,
  transfer_mode: 'pull',
};

export function handoff(epoch: number): HandoffRecord {
  return { params: PARAMS, generation: 7, heldUs: 1_234_567, epoch };
}
