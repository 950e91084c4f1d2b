import { describe, expect, it } from 'vitest';
import { parseStepLogLine, stepLogLine } from './step-log';
import { prefillStep } from './measured-step';

describe('the log of steps', () => {
  it('is read as it was written', () => {
    const step = { ...prefillStep({ count: 2, tokens: 64, cached: 32, ms: 7.25 }), decodeSeqs: 3 };
    const drafting = { ...step, decodeContext: 900, draftTokens: 6 };
    expect(parseStepLogLine(stepLogLine(step))).toEqual(step);
    expect(parseStepLogLine(stepLogLine(drafting, 'decode-0'))).toEqual(drafting);
    expect(stepLogLine(step)).not.toContain('\n');
  });

  it('may leave out fields that a single prompt or a decode step implies', () => {
    expect(
      parseStepLogLine('{"step_ms": 5, "prefill_tokens": 100, "prefill_context": 20}'),
    ).toEqual(prefillStep({ tokens: 100, cached: 20, ms: 5 }));
    const decode = parseStepLogLine('{"step_ms": 5, "decode_seqs": 2, "decode_context": 60}');
    expect([decode.prefillSeqs, decode.prefillQuadratic, decode.decodeSeqs]).toEqual([0, 0, 2]);
  });

  it.each([
    ['no JSON', 'step 5', 'not a JSON object'],
    ['a list', '[1]', 'not a JSON object'],
    ['an unknown key', '{"step_ms":1,"tokens":2}', "unknown key 'tokens'"],
    ['no time', '{"decode_seqs":2}', 'step_ms must be a number above 0'],
    ['a negative time', '{"step_ms":-1,"decode_seqs":2}', 'step_ms must be a number above 0'],
    [
      'a text for a count',
      '{"step_ms":1,"decode_seqs":"2"}',
      'decode_seqs must be a number from 0',
    ],
    ['an empty batch', '{"step_ms":1}', 'neither prompt tokens nor sequences'],
  ])('refuses %s', (_, line, sentence) => {
    expect(() => parseStepLogLine(line)).toThrow(sentence);
  });
});
