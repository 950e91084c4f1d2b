import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { BatchView, Operation, OperationReply } from '@baton/contract';
import { channels, jsonListener, type Unsubscribe } from '@baton/transport';
import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { ClusterView } from '../../cluster/cluster-view';
import { Exchanges } from '../../request/serve/exchanges';
import { ApiIdentity, Config, Broker, Log } from '../../tokens';

/** Time limit for the answers of engines; a later answer counts as missing. */
const REPLY_TIMEOUT_MS = 2_000;
/**
 * Time during which answers of API processes count; there is no list of API processes to wait for.
 */
const API_REPLIES_MS = 150;
const LOOK_EVERY_MS = 5;

type WithoutAddress<T> = T extends unknown ? Omit<T, 'replyTo'> : never;

/**
 * Forwards the requests of operators to all engines and API processes, collects their answers, and
 * does the part of this process. It records pauses only while it runs: a process that starts later
 * treats the cluster as awake.
 */
@Injectable()
export class Operator implements OnApplicationShutdown, OnModuleInit {
  isPaused = false;
  isSleeping = false;
  private unsubscribe: Unsubscribe | undefined;

  constructor(
    private readonly config: Config,
    private readonly transport: Broker,
    private readonly identity: ApiIdentity,
    private readonly cluster: ClusterView,
    private readonly exchanges: Exchanges,
    private readonly logger: Log,
  ) {}

  async onModuleInit(): Promise<void> {
    if (!this.config.enableDevMode) return;
    this.unsubscribe = await this.transport.bus.subscribe(
      channels.operations,
      jsonListener<Operation>(this.logger, (operation) => this.act(operation)),
    );
  }

  async onApplicationShutdown(): Promise<void> {
    await this.unsubscribe?.().catch(() => undefined);
  }

  /** True when every engine has carried out the order. */
  async askEngines(operation: WithoutAddress<Operation>): Promise<boolean> {
    await this.cluster.refresh();
    const engines = this.cluster.living().map(({ engineId }) => engineId);
    const replies = await this.send(operation, (so) => engines.every((id) => so.has(id)));
    return engines.every((id) => replies.get(id)?.isDone === true);
  }

  /** The batches of each engine that answers, in order of engine number. */
  async batches(): Promise<BatchView[]> {
    await this.cluster.refresh();
    const engines = this.cluster.living().map(({ engineId }) => engineId);
    const isEnough = (so: ReadonlyMap<string, OperationReply>): boolean =>
      engines.every((id) => so.has(id));
    const replies = await this.send({ kind: 'show-batch' }, isEnough);
    const batches = [...replies.values()].flatMap(({ batch }) => batch ?? []);
    return batches.sort((a, b) => a.index - b.index);
  }

  /** Number of requests ended, over all API processes. */
  async abort(requestIds: readonly string[] | undefined): Promise<number> {
    const operation = { kind: 'abort-requests', requestIds } as const;
    const startMs = performance.now();
    const replies = await this.send(operation, () => performance.now() - startMs > API_REPLIES_MS);
    return [...replies.values()].reduce((sum, { count }) => sum + count, 0);
  }

  private async send(
    operation: WithoutAddress<Operation>,
    isEnough: (replies: ReadonlyMap<string, OperationReply>) => boolean,
  ): Promise<ReadonlyMap<string, OperationReply>> {
    const { bus } = this.transport;
    const replyTo = channels.replies(randomUUID());
    const replies = new Map<string, OperationReply>();
    const unsubscribe = await bus.subscribe(
      replyTo,
      jsonListener<OperationReply>(this.logger, (reply) => replies.set(reply.from, reply)),
    );
    bus.publish(channels.operations, Buffer.from(JSON.stringify({ ...operation, replyTo })));
    const deadlineMs = performance.now() + REPLY_TIMEOUT_MS;
    while (!isEnough(replies) && performance.now() < deadlineMs) await delay(LOOK_EVERY_MS);
    await unsubscribe();
    return replies;
  }

  private act(operation: Operation): void {
    switch (operation.kind) {
      case 'pause':
        this.isPaused = true;
        this.isSleeping = operation.isSleep;
        return;
      case 'resume':
        this.isPaused = false;
        this.isSleeping = false;
        return;
      case 'abort-requests':
        this.reply(operation, this.exchanges.abort(operation.requestIds));
        return;
      case 'reset-prefix-cache':
      case 'show-batch':
        return;
    }
  }

  private reply({ replyTo }: Operation, count: number): void {
    const reply: OperationReply = { from: this.identity.apiId, isDone: true, count };
    this.transport.bus.publish(replyTo, Buffer.from(JSON.stringify(reply)));
  }
}
