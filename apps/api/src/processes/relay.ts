import type { QueryProcesses, FromProcess, AnswerOfProcess, ToProcess, Topic } from './messages';

/** Time for a process to answer. A busy event loop is late by some tenths of a second. */
const ANSWER_WITHIN_MS = 1_500;
/** Questions whose last answers are kept, at most. */
const MOST_KEPT = 1_024;

/** Merges the last answers of processes that have ended into one, by topic. */
export type Fold = (sum: unknown, last: unknown) => unknown;

interface Open {
  readonly sender: number;
  readonly queryId: number;
  readonly key: string;
  readonly answers: Map<number, unknown>;
  readonly missing: Set<number>;
  readonly timer: NodeJS.Timeout;
}

/** Last answers to one question: of living processes by number, and of all that have ended. */
interface LastAnswers {
  readonly living: Map<number, unknown>;
  ended: unknown;
}

/**
 * Carries questions from one API process to the others and their answers back. For topics with a
 * fold, a process that is late has its last answer, and one that has ended leaves its last answer
 * behind: what they counted does not vanish.
 */
export class Relay {
  private queries = 0;
  private readonly members = new Map<number, (message: ToProcess) => void>();
  private readonly open = new Map<number, Open>();
  private readonly lastAnswers = new Map<string, LastAnswers>();

  constructor(private readonly folds: Partial<Readonly<Record<Topic, Fold>>> = {}) {}

  /** A process has started under this number. */
  join(member: number, send: (message: ToProcess) => void): void {
    this.members.set(member, send);
  }

  /** The process of this number has ended. */
  leave(member: number): void {
    this.members.delete(member);
    for (const [key, { living, ended }] of this.lastAnswers) {
      if (!living.has(member)) continue;
      const fold = this.folds[topicOf(key)];
      this.lastAnswers.get(key)!.ended = fold?.(ended, living.get(member));
      living.delete(member);
    }
    for (const [id, open] of this.open) {
      open.missing.delete(member);
      this.settle(id, open);
    }
  }

  receive(from: number, message: FromProcess): void {
    if (message.kind === 'query-processes') this.forward(from, message);
    else this.take(from, message);
  }

  private forward(sender: number, { id: queryId, topic, question, own }: QueryProcesses): void {
    const missing = new Set([...this.members.keys()].filter((member) => member !== sender));
    this.queries += 1;
    const id = this.queries;
    const key = `${topic} ${JSON.stringify(question)}`;
    if (this.folds[topic] !== undefined) this.keep(key, sender, own);
    const timer = setTimeout(() => this.answerQuery(id), ANSWER_WITHIN_MS);
    const open: Open = { sender, queryId, key, answers: new Map(), missing, timer };
    this.open.set(id, open);
    for (const member of missing) {
      this.members.get(member)?.({ kind: 'query-from-process', id, topic, question });
    }
    this.settle(id, open);
  }

  private take(from: number, { id, answer }: AnswerOfProcess): void {
    const open = this.open.get(id);
    if (open?.missing.delete(from) !== true) return;
    open.answers.set(from, answer);
    if (this.folds[topicOf(open.key)] !== undefined) this.keep(open.key, from, answer);
    this.settle(id, open);
  }

  private settle(id: number, { missing }: Open): void {
    if (missing.size === 0) this.answerQuery(id);
  }

  private answerQuery(id: number): void {
    const open = this.open.get(id);
    if (open === undefined) return;
    clearTimeout(open.timer);
    this.open.delete(id);
    const { sender, queryId, key, answers, missing } = open;
    const latest = this.lastAnswers.get(key);
    const late = [...missing].map((member) => latest?.living.get(member));
    const all = [...answers.values(), ...late, latest?.ended].filter((each) => each !== undefined);
    this.members.get(sender)?.({ kind: 'answers-of-processes', id: queryId, answers: all });
  }

  private keep(key: string, member: number, answer: unknown): void {
    const latest = this.lastAnswers.get(key) ?? { living: new Map(), ended: undefined };
    this.lastAnswers.set(key, latest);
    latest.living.set(member, answer);
    const [oldest] = this.lastAnswers.keys();
    if (this.lastAnswers.size > MOST_KEPT && oldest !== undefined) this.lastAnswers.delete(oldest);
  }
}

function topicOf(key: string): Topic {
  return key.slice(0, key.indexOf(' ')) as Topic;
}
