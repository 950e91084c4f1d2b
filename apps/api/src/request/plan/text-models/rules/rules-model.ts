import { readFileSync, statSync } from 'node:fs';
import { reasonOf } from '@baton/kernel';
import { UsageError } from '@baton/config';
import type { Logger } from '@baton/telemetry';
import type { GivenAnswer } from '@baton/text';
import { type TextPrompt, lastOfUser, type Reply, type TextModel } from '../text-model';
import { inSlices } from './work-slices';
import { readReplyRules } from './read-rules';
import {
  isMatch,
  type Rule,
  type RuledPrompt,
  ruledPrompt,
  type RuleOutcome,
  type RuleSet,
} from './rule';

/** Interval of the checks for a changed file. */
const LOOK_EVERY_MS = 1_000;
const MAX_BYTES = 4 * 2 ** 20;

/**
 * Answers by the first matching rule of a file. It owns the place in each sequence, per process,
 * and reads the file again when it changes. An unreadable file leaves the rules unchanged.
 */
export class RulesModel implements TextModel {
  private steps = new Map<string, number>();
  private readonly timer: NodeJS.Timeout;

  private constructor(
    private readonly path: string,
    private set: RuleSet,
    /** Stamp of the file when it was last read. */
    private stamp: string,
    private readonly logger: Logger,
  ) {
    this.timer = setInterval(() => this.look(), LOOK_EVERY_MS).unref();
  }

  /** Throws a `UsageError`. */
  static open(path: string, logger: Logger): RulesModel {
    const stamp = stampOf(path);
    return new RulesModel(path, load(path), stamp, logger);
  }

  replies(prompts: readonly TextPrompt[]): Promise<readonly Reply[]> {
    return inSlices(this.matched(prompts, this.set));
  }

  stopWatching(): void {
    clearInterval(this.timer);
  }

  /** Unchanged rules keep their place in their sequences. */
  reload(): void {
    try {
      this.set = load(this.path);
      const keys = new Set(this.set.rules.map(({ key }) => key));
      this.steps = new Map([...this.steps].filter(([key]) => keys.has(key)));
      this.logger.info({ rules: this.set.rules.length, path: this.path }, 'rules read again');
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      this.logger.error(
        { problem: error.message },
        'the changed rules are not valid; the earlier ones stay in use',
      );
    }
  }

  private *matched(
    prompts: readonly TextPrompt[],
    { rules, fallback }: RuleSet,
  ): Generator<void, readonly Reply[]> {
    const replies: Reply[] = [];
    for (const prompt of prompts) {
      const rule = yield* firstMatch(rules, ruledPrompt(prompt));
      const outcome = rule === undefined ? fallback : this.next(rule);
      replies.push(outcome === undefined ? {} : replyOf(outcome, prompt));
    }
    return replies;
  }

  private look(): void {
    const stamp = stampOf(this.path);
    if (stamp === this.stamp) return;
    this.stamp = stamp;
    this.reload();
  }

  private next({ key, outcomes, isCycle }: Rule): RuleOutcome {
    if (outcomes.length === 1) return outcomes[0]!;
    const step = this.steps.get(key) ?? 0;
    const following = step + 1 === outcomes.length ? (isCycle ? 0 : step) : step + 1;
    this.steps.set(key, following);
    return outcomes[step]!;
  }
}

function* firstMatch(
  rules: readonly Rule[],
  prompt: RuledPrompt,
): Generator<void, Rule | undefined> {
  for (const [i, rule] of rules.entries()) {
    yield;
    if (!(yield* isMatch(rule, prompt))) continue;
    if (rule.probability >= 1 || prompt.chance(`rule ${i}`) < rule.probability) return rule;
  }
  return undefined;
}

function replyOf({ given, isEcho, delayMs, error }: RuleOutcome, { said }: TextPrompt): Reply {
  const answer: GivenAnswer | undefined = isEcho ? { ...given, content: lastOfUser(said) } : given;
  return { delayMs, error, answers: answer && (() => answer) };
}

/** A stamp that changes with the file; empty for an unreadable one. */
function stampOf(path: string): string {
  try {
    const stats = statSync(path);
    return `${stats.ino} ${stats.mtimeMs} ${stats.size}`;
  } catch {
    return '';
  }
}

function load(path: string): RuleSet {
  let content: string;
  try {
    content = readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${reasonOf(error)}.`);
  }
  if (content.length > MAX_BYTES) {
    throw new UsageError(`${path} is larger than ${MAX_BYTES / 2 ** 20} MiB.`);
  }
  return readReplyRules(path, content);
}
