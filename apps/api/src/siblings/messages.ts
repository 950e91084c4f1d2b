/** What API processes of one port ask each other. */
export type Topic = 'metrics' | 'pictures' | 'load';

/** A question of one API process to the others, by way of their parent. */
export interface AskSiblings {
  readonly kind: 'ask-siblings';
  readonly id: number;
  readonly topic: Topic;
  readonly question: unknown;
  /** The answer of the process that asks; kept for the time after its end. */
  readonly own: unknown;
}

/** The question as it reaches each sibling. */
export interface SiblingAsks {
  readonly kind: 'sibling-asks';
  readonly id: number;
  readonly topic: Topic;
  readonly question: unknown;
}

export interface SiblingAnswers {
  readonly kind: 'sibling-answers';
  readonly id: number;
  readonly answer: unknown;
}

/** The answers to `ask-siblings` with the same id. */
export interface SiblingsAnswered {
  readonly kind: 'siblings-answered';
  readonly id: number;
  /** Without those that came too late. */
  readonly answers: readonly unknown[];
}

/** From an API process to its parent. */
export type FromSibling = AskSiblings | SiblingAnswers;

export type ToSibling = SiblingAsks | SiblingsAnswered;

export function isFromSibling(message: object): message is FromSibling {
  return isOneOf(message, ['ask-siblings', 'sibling-answers']);
}

export function isToSibling(message: object): message is ToSibling {
  return isOneOf(message, ['sibling-asks', 'siblings-answered']);
}

function isOneOf(message: object, kinds: readonly unknown[]): boolean {
  return 'kind' in message && kinds.includes(message.kind);
}
