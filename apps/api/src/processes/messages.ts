/** Topics of queries between the API processes of one port. */
export type Topic = 'metrics' | 'pictures' | 'load';

/** A query of one API process to the others, by way of their parent. */
export interface QueryProcesses {
  readonly kind: 'query-processes';
  readonly id: number;
  readonly topic: Topic;
  readonly question: unknown;
  /** The own answer of the querying process; the parent uses it after the end of that process. */
  readonly own: unknown;
}

/** The query as the parent passes it on to each other process. */
export interface QueryFromProcess {
  readonly kind: 'query-from-process';
  readonly id: number;
  readonly topic: Topic;
  readonly question: unknown;
}

export interface AnswerOfProcess {
  readonly kind: 'answer-of-process';
  readonly id: number;
  readonly answer: unknown;
}

/** The answers to `query-processes` with the same id. */
export interface AnswersOfProcesses {
  readonly kind: 'answers-of-processes';
  readonly id: number;
  /** The answers that came in time. */
  readonly answers: readonly unknown[];
}

/** From an API process to its parent. */
export type FromProcess = QueryProcesses | AnswerOfProcess;

export type ToProcess = QueryFromProcess | AnswersOfProcesses;

export function isFromProcess(message: object): message is FromProcess {
  return isOneOf(message, ['query-processes', 'answer-of-process']);
}

export function isToProcess(message: object): message is ToProcess {
  return isOneOf(message, ['query-from-process', 'answers-of-processes']);
}

function isOneOf(message: object, kinds: readonly unknown[]): boolean {
  return 'kind' in message && kinds.includes(message.kind);
}
