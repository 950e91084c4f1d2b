import { UsageError } from '@baton/config';
import { BatonError, type ChildMessage, type Stage, type SupervisorMessage } from '@baton/contract';
import type { EngineStarter } from '@baton/engine-host';
import { SUPERVISED_VARIABLE } from '../../processes/variables';

/** The channel between this process and the one that started it. */
export interface ParentChannel {
  send(message: ChildMessage): void;
  onMessage(listener: (message: unknown) => void): void;
}

/** A message to the supervisor, without its number. */
type Order = WithoutId<Extract<ChildMessage, { readonly id: number }>>;
type WithoutId<T> = T extends unknown ? Omit<T, 'id'> : never;

/** A supervisor answers before it starts processes. */
const ANSWER_WITHIN_MS = 5_000;

/** Asks the supervisor of `baton up`, which started this process, to start workers. */
export class SupervisorLink implements EngineStarter {
  private orders = 0;
  private readonly waiting = new Map<number, (answer: SupervisorMessage) => void>();

  constructor(private readonly channel: ParentChannel) {
    channel.onMessage((message) => {
      if (!isAnswer(message)) return;
      this.waiting.get(message.id)?.(message);
      this.waiting.delete(message.id);
    });
  }

  /** Undefined in a process that no supervisor has started. */
  static ofThisProcess(): SupervisorLink | undefined {
    const { env } = process;
    const isChild = process.send !== undefined && env['BATON_PROCESS'] !== undefined;
    if (!isChild || env[SUPERVISED_VARIABLE] === 'no') return undefined;
    return new SupervisorLink({
      send: (message) => void process.send?.(message),
      onMessage: (listener) => process.on('message', listener),
    });
  }

  /** @throws UsageError in the supervisor's words; BatonError `supervisor_silent` */
  async start(role: Stage, count: number): Promise<void> {
    const answer = await this.send({ kind: 'start-engines', role, count });
    if (answer.kind !== 'engines-started') throw new BatonError('supervisor_silent');
    if (answer.refusal !== undefined) throw new UsageError(answer.refusal);
  }

  /** @throws BatonError `supervisor_silent` */
  async cancel(): Promise<number> {
    const answer = await this.send({ kind: 'cancel-engines' });
    return answer.kind === 'engines-cancelled' ? answer.count : 0;
  }

  private async send(order: Order): Promise<SupervisorMessage> {
    this.orders += 1;
    const id = this.orders;
    const answer = await new Promise<SupervisorMessage | undefined>((resolve) => {
      const timer = setTimeout(() => resolve(undefined), ANSWER_WITHIN_MS);
      this.waiting.set(id, (message) => {
        clearTimeout(timer);
        resolve(message);
      });
      this.channel.send({ ...order, id });
    });
    this.waiting.delete(id);
    if (answer === undefined) throw new BatonError('supervisor_silent');
    return answer;
  }
}

function isAnswer(message: unknown): message is SupervisorMessage {
  return (
    typeof message === 'object' &&
    message !== null &&
    'kind' in message &&
    (message.kind === 'engines-started' || message.kind === 'engines-cancelled')
  );
}
