import { assert, hashString, mix } from '@baton/kernel';
import type { SaidMessage } from '@baton/openai';
import type { Tokenizer } from '@baton/text';
import { lastOfUser } from '../text-model';
import type { AnsweredPrompt } from './dataset-row';

/** Limit of answers per process; further answers are left out. */
const MAX_ANSWERS = 1_000_000;
const MAX_CHARACTERS = 256 * 2 ** 20;
/** Sample size for the estimate of answer lengths. */
const SAMPLE = 4_096;
/** Number of answers of about the wanted length to choose from. */
const NEIGHBOURS = 16;

/** Answers by the conversation before them, and by length. */
export class Dataset {
  /** Answers left out for lack of room. */
  leftOut = 0;
  private readonly answers: string[] = [];
  private readonly byConversation = new Map<number, number>();
  private readonly byQuestion = new Map<number, number>();
  private characters = 0;
  private byLength = new Int32Array(0);
  private charactersPerToken = 1;

  get size(): number {
    return this.answers.length;
  }

  /** The first answer to a prompt stays. An answer without text is skipped. */
  add({ said, answer }: AnsweredPrompt): void {
    if (answer === '') return;
    const isFull = this.size >= MAX_ANSWERS || this.characters + answer.length > MAX_CHARACTERS;
    if (isFull) {
      this.leftOut += 1;
      return;
    }
    const index = this.answers.push(answer) - 1;
    this.characters += answer.length;
    putFirst(this.byConversation, conversationKey(said), index);
    putFirst(this.byQuestion, questionKey(said), index);
  }

  /**
   * Call it after the last answer. Returns the token counts of answers evenly spread over the
   * dataset.
   */
  finishAnswers(tokenizer: Tokenizer): Int32Array {
    assert(this.size > 0, 'a dataset has answers');
    const order = this.answers.map((_, i) => i);
    this.byLength = Int32Array.from(order.sort((a, b) => this.lengthOf(a) - this.lengthOf(b)));
    const count = Math.min(SAMPLE, this.size);
    const sample = Array.from(
      { length: count },
      (_, i) => this.answers[Math.floor((i * this.size) / count)]!,
    );
    const tokens = Int32Array.from(sample, (text) => Math.max(1, tokenizer.encode(text).length));
    const characters = sample.reduce((sum, text) => sum + text.length, 0);
    this.charactersPerToken = characters / tokens.reduce((sum, one) => sum + one, 0);
    return tokens;
  }

  /**
   * The answer to this conversation, else to its last question; undefined when there is neither.
   */
  answerTo(said: readonly SaidMessage[]): string | undefined {
    const index =
      this.byConversation.get(conversationKey(said)) ?? this.byQuestion.get(questionKey(said));
    return index === undefined ? undefined : this.answers[index];
  }

  /** One of the answers of about this many tokens, chosen by the hash. */
  near(tokens: number, hash: number): string {
    const wanted = tokens * this.charactersPerToken;
    let low = 0;
    let high = this.size;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.lengthOf(this.byLength[middle]!) < wanted) low = middle + 1;
      else high = middle;
    }
    const count = Math.min(NEIGHBOURS, this.size);
    const from = Math.max(0, Math.min(low - (count >> 1), this.size - count));
    return this.answers[this.byLength[from + (hash % count)]!]!;
  }

  private lengthOf(index: number): number {
    return this.answers[index]!.length;
  }
}

/** System messages are left out, because they differ by deployment. */
function conversationKey(said: readonly SaidMessage[]): number {
  return said.reduce(
    (key, { role, text }) =>
      role === 'system' || role === 'developer'
        ? key
        : mix(key, mix(hashString(role), hashString(text.trim()))),
    0,
  );
}

function questionKey(said: readonly SaidMessage[]): number {
  return hashString((lastOfUser(said) ?? '').trim());
}

function putFirst(map: Map<number, number>, key: number, index: number): void {
  if (!map.has(key)) map.set(key, index);
}
