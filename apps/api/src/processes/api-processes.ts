import cluster from 'node:cluster';
import { type FromProcess, isToProcess, type QueryFromProcess, type Topic } from './messages';
import { PLACE_VARIABLE } from './variables';

/** Time for the parent to answer; it waits less for the other processes. */
const ANSWER_WITHIN_MS = 3_000;

/** The channel to the parent of the processes. */
export interface ParentChannel {
  send(message: FromProcess): void;
  onMessage(listener: (message: object) => void): void;
}

export type QueryReply = (question: unknown) => unknown;

/**
 * The other API processes behind the same port. A client reaches any of them, so what one process
 * shows for all (metrics, live page, load) includes the others' part. A process that has the port
 * to itself has no other processes, and every query returns an empty list.
 */
export class ApiProcesses {
  private queries = 0;
  private readonly waiting = new Map<number, (answers: readonly unknown[]) => void>();
  private readonly answerTo = new Map<Topic, QueryReply>();

  /**
   * @param count of the processes behind the port, this one included
   * @param place of this process among them, from 0
   */
  constructor(
    readonly count: number,
    readonly place: number,
    private readonly channel?: ParentChannel,
  ) {
    channel?.onMessage((message) => {
      if (!isToProcess(message)) return;
      if (message.kind === 'query-from-process') void this.reply(message);
      else this.waiting.get(message.id)?.(message.answers);
    });
  }

  /** The instance of a process that does not share its port. */
  static none(): ApiProcesses {
    return new ApiProcesses(1, 0);
  }

  /** The instance of a process that `runPrimary` started, which sets its place. */
  static ofThisProcess(count: number): ApiProcesses {
    if (!cluster.isWorker) return ApiProcesses.none();
    return new ApiProcesses(count, Number(process.env[PLACE_VARIABLE]), {
      send: (message) => void process.send?.(message),
      onMessage: (listener) => process.on('message', listener),
    });
  }

  /** False when this process has the port to itself. */
  get areThere(): boolean {
    return this.channel !== undefined;
  }

  /** Sets the answer of this process to queries of the others. */
  answer(topic: Topic, answer: QueryReply): void {
    this.answerTo.set(topic, answer);
  }

  /**
   * The answers of the other processes, without those that do not come in time.
   *
   * @param own the answer of this process, which the others get after its end
   */
  async query(topic: Topic, question: unknown, own?: unknown): Promise<readonly unknown[]> {
    const { channel } = this;
    if (channel === undefined) return [];
    this.queries += 1;
    const id = this.queries;
    try {
      return await new Promise((resolve) => {
        const timer = setTimeout(() => resolve([]), ANSWER_WITHIN_MS);
        this.waiting.set(id, (answers) => {
          clearTimeout(timer);
          resolve(answers);
        });
        channel.send({ kind: 'query-processes', id, topic, question, own });
      });
    } finally {
      this.waiting.delete(id);
    }
  }

  /** Undefined when this process cannot answer, for example while the broker is away. */
  private async ownAnswer(topic: Topic, question: unknown): Promise<unknown> {
    try {
      return await this.answerTo.get(topic)?.(question);
    } catch {
      return undefined;
    }
  }

  private async reply({ id, topic, question }: QueryFromProcess): Promise<void> {
    const answer: unknown = await this.ownAnswer(topic, question);
    this.channel?.send({ kind: 'answer-of-process', id, answer });
  }
}
