import { HardwareError } from '@baton/hardware';
import { countIn, type JsonFields, objectIn } from '@baton/kernel';
import type { MeasuredStep } from './measured-step';

/**
 * One line of a recorded log of steps, JSONL. `step_ms` and one part of the batch are required;
 * other fields are 0 by default.
 */
export interface StepLogEntry {
  /** Duration of the step in ms, above 0. */
  readonly step_ms: number;
  /** Prompt tokens computed. */
  readonly prefill_tokens?: number;
  /** Number of their prompts. Default: 1 when there are prompt tokens. */
  readonly prefill_seqs?: number;
  /** Σ ((p + n)² − p²) over the prompts. Default: that of one prompt after `prefill_context`. */
  readonly prefill_quadratic?: number;
  /** Σ p over the prompts: tokens that were in KV before the step. */
  readonly prefill_context?: number;
  /** Sequences that get a token. */
  readonly decode_seqs?: number;
  /** Σ of their contexts. */
  readonly decode_context?: number;
  /** Drafted tokens that the step verifies in addition. */
  readonly draft_tokens?: number;
  /** The engine of the step. The fit does not use it. */
  readonly engine?: string;
}

const COUNTS = [
  'prefill_tokens',
  'prefill_seqs',
  'prefill_quadratic',
  'prefill_context',
  'decode_seqs',
  'decode_context',
  'draft_tokens',
] as const;
const KEYS = new Set<string>(['step_ms', 'engine', ...COUNTS]);

/** The line of a step, without a line break. */
export function stepLogLine(step: MeasuredStep, engine?: string): string {
  const entry: StepLogEntry = {
    step_ms: step.ms,
    prefill_tokens: step.prefillTokens,
    prefill_seqs: step.prefillSeqs,
    prefill_quadratic: step.prefillQuadratic,
    prefill_context: step.prefillContext,
    decode_seqs: step.decodeSeqs,
    decode_context: step.decodeContext,
    ...(step.draftTokens ? { draft_tokens: step.draftTokens } : {}),
    ...(engine === undefined ? {} : { engine }),
  };
  return JSON.stringify(entry);
}

/** @throws HardwareError `bad-points`; the message is one sentence without the line's number */
export function parseStepLogLine(line: string): MeasuredStep {
  const entry = objectIn(line);
  if (entry === undefined) throw bad('not a JSON object');
  const unknown = Object.keys(entry).find((key) => !KEYS.has(key));
  if (unknown !== undefined) throw bad(`unknown key '${unknown}'`);
  const ms = entry['step_ms'];
  if (typeof ms !== 'number' || !(ms > 0)) throw bad('step_ms must be a number above 0');
  const [tokens, seqs, quadratic, context, decodes, decodeContext, drafts] = COUNTS.map((key) =>
    givenCount(entry, key),
  );
  const prefillTokens = tokens ?? 0;
  const prefillContext = context ?? 0;
  if (prefillTokens + (decodes ?? 0) === 0) throw bad('it has neither prompt tokens nor sequences');
  return {
    prefillTokens,
    prefillSeqs: seqs ?? Math.min(1, prefillTokens),
    prefillQuadratic: quadratic ?? (prefillContext + prefillTokens) ** 2 - prefillContext ** 2,
    prefillContext,
    decodeSeqs: decodes ?? 0,
    decodeContext: decodeContext ?? 0,
    ...(drafts ? { draftTokens: drafts } : {}),
    ms,
  };
}

/** Undefined: the entry does not have it. */
function givenCount(entry: JsonFields, key: string): number | undefined {
  const count = countIn(entry[key]);
  if (count === undefined && entry[key] !== undefined) throw bad(`${key} must be a number from 0`);
  return count;
}

function bad(why: string): HardwareError {
  return new HardwareError('bad-points', why);
}
