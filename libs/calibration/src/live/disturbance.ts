import { mean, median, msToUs } from '@baton/kernel';
import { WorkloadBuilder } from '@baton/workload';
import { type Measurements, wholePrompts } from './decompose';
import type { DecodePoint } from './measure-decode';
import type { PromptPoint } from './measure-prompts';
import type { Measuring } from './measuring';
import { midMean } from './statistics';
import type { Answered } from './target';

/** The delay that a prompt and a decoding stream cause each other, though on different engines. */
export interface Contention {
  readonly promptTokens: number;
  /** Increase of the time to the prompt's first token, as a share. */
  readonly prompt: number;
  /**
   * Delay of the stream after the prompt is computed and its KV has arrived, ms: CPU time, and work
   * of its engine to read KV.
   */
  readonly holdUpMs: number;
}

/** The delay of a prompt by the next one on the engine that computes both. */
export interface Followed {
  readonly promptTokens: number;
  /** Delay of its first token, ms. */
  readonly laterMs: number;
}

const LEAD_GAPS = 6;
const MOST_TOKENS = 1_024;

/**
 * Measures the disturbance of prefill and decode engines that share a machine: one stream decodes
 * while a prompt is computed on another engine. Undefined when the prompt ends too soon.
 */
export async function measureContention(
  measuring: Measuring,
  measured: Measurements,
): Promise<Contention | undefined> {
  const alone = { prompt: wholePrompts(measured).at(-1)!, decode: measured.decode[0]! };
  const rounds: Pick<Contention, 'prompt' | 'holdUpMs'>[] = [];
  for (let round = 0; round < measuring.rounds; round++) {
    const [stream, prompt] = await together(measuring, alone);
    if (stream === undefined || prompt === undefined) return undefined;
    const gaps = gapsBeside(stream, prompt, alone.decode.stepMs);
    if (gaps.length < 2) return undefined;
    const longerMs = prompt.ttftMs - alone.prompt.ttftMs - waitMs(measured);
    rounds.push({
      prompt: longerMs / alone.prompt.ttftMs,
      holdUpMs: gaps.length * (mean(gaps) - alone.decode.stepMs),
    });
  }
  return {
    promptTokens: alone.prompt.tokens,
    prompt: midMean(rounds.map(({ prompt }) => prompt)),
    holdUpMs: Math.max(0, midMean(rounds.map(({ holdUpMs }) => holdUpMs))),
  };
}

/**
 * Expected wait on decode, ms: on average half of the current step and the whole next one, which
 * async scheduling has already formed (the default of vLLM and of Baton); its own step then has two
 * sequences. A server without async scheduling takes a step less.
 */
function waitMs({ decode }: Measurements): number {
  const [one, two] = [decode[0]!, decode.find(({ sequences }) => sequences > 1)];
  return 1.5 * one.stepMs + Math.max(0, (two?.stepMs ?? one.stepMs) - one.stepMs);
}

async function together(
  { target, maxModelLen }: Measuring,
  { prompt, decode }: { readonly prompt: PromptPoint; readonly decode: DecodePoint },
): Promise<readonly (Answered | undefined)[]> {
  const context = Math.max(1, Math.round(decode.context) - LEAD_GAPS);
  const meanwhile = Math.ceil(prompt.ttftMs / decode.stepMs);
  const tokens = Math.min(MOST_TOKENS, maxModelLen - context, meanwhile + 4 * LEAD_GAPS);
  const builder = new WorkloadBuilder();
  builder.add({ arrivalUs: 0, promptTokens: context, outputTokens: Math.max(2, tokens) });
  // The stream decodes by then, even when its prompt takes as long as this one.
  const leadMs = prompt.ttftMs + LEAD_GAPS * decode.stepMs;
  const lateMs = Math.min(leadMs, Math.max(2, tokens / 2) * decode.stepMs);
  builder.add({
    arrivalUs: Math.round(msToUs(lateMs)),
    promptTokens: prompt.tokens,
    outputTokens: 1,
  });
  return (await target.run(builder.build())).answers;
}

/** The stream's gaps from the sending of the prompt until a step after its first token. */
function gapsBeside(stream: Answered, { startMs, ttftMs }: Answered, stepMs: number): number[] {
  const gaps: number[] = [];
  let atMs = stream.startMs + stream.ttftMs;
  for (let i = 0; i < stream.gapsMs.length; i++) {
    const gapMs = stream.gapsMs[i]!;
    if (atMs >= startMs && atMs < startMs + ttftMs + stepMs) gaps.push(gapMs);
    atMs += gapMs;
  }
  return gaps;
}

/**
 * Sends a prompt, and another one when half of the first is computed. In theory the first is not
 * delayed.
 */
export async function measureFollowed(
  { target, rounds }: Measuring,
  alone: PromptPoint,
): Promise<Followed | undefined> {
  const laterMs: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const builder = new WorkloadBuilder();
    for (const arrivalUs of [0, Math.round(msToUs(alone.ttftMs / 2))]) {
      builder.add({ arrivalUs, promptTokens: alone.tokens, outputTokens: 1 });
    }
    const [first] = (await target.run(builder.build())).answers;
    if (first === undefined) return undefined;
    laterMs.push(first.ttftMs - alone.ttftMs);
  }
  return { promptTokens: alone.tokens, laterMs: Math.max(0, median(laterMs)) };
}
