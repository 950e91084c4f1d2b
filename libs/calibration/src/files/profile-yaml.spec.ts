import { decodeStep, prefillStep } from '../fits/measured-step';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { fitSteps } from '../profiling/fit-steps';
import { profileYaml } from './profile-yaml';
import type { Result } from '../profiling/report';

const PROMPTS = [64, 256, 1_024].map((tokens) => prefillStep({ tokens, ms: 4 + 0.01 * tokens }));
const DECODES = [1, 4, 16, 64].flatMap((seqs) =>
  [100, 1_000].map((context) => decodeStep(seqs, seqs * context, 5 + 0.03 * seqs)),
);

function frontEndOf(format: string, steps: typeof PROMPTS, requestMs?: number): unknown {
  const fit = { fit: 'calibrated', holdOutEvery: 0, seed: 0 } as const;
  const options = { ...fit, placement: {}, overheadMs: 0 };
  const all = [...PROMPTS, ...DECODES];
  const result: Result = {
    request: { inputs: ['run'], options } as unknown as Result['request'],
    inputs: [{ steps, format }],
    calibration: fitSteps(all, { options }),
    transfer: undefined,
    ...(requestMs === undefined ? {} : { requestMs }),
  };
  return (parse(profileYaml(result)) as { front_end?: unknown }).front_end;
}

describe('the front end of a profile', () => {
  it('is included where clients timed the prompts', () => {
    expect(frontEndOf('vllm-bench', PROMPTS)).toBe('included');
    expect(frontEndOf('guidellm', DECODES)).toBeUndefined();
  });

  it('is absent for steps', () => {
    expect(frontEndOf('baton-log', PROMPTS)).toBeUndefined();
    expect(frontEndOf('csv', PROMPTS)).toBeUndefined();
  });

  it('has the time of a running cluster outside of its steps', () => {
    expect(frontEndOf('live', PROMPTS, 6.6)).toEqual({ request_ms: 6.6 });
  });
});
