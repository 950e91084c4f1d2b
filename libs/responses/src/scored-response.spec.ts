import { describe, expect, it } from 'vitest';
import { outcomeOf, run } from '../test/test-response';
import { ResponseOutcome } from './response-outcome';
import { StreamedResponse } from './streamed-response';

interface Scored {
  readonly token: string;
  readonly top_logprobs: readonly object[];
}

describe('a response with log-probabilities', () => {
  it('has the log-probabilities of each token once, in one piece and streamed', () => {
    const body = { input: 'Hi', ignore_eos: true, max_output_tokens: 40, top_logprobs: 2 };
    const scored = { ...body, include: ['message.output_text.logprobs'] };
    const { response, events } = run(scored, () => 7);
    const [part] = response.output[0]!['content'] as { text: string; logprobs: Scored[] }[];
    const listed = part!.logprobs;
    expect(listed.map(({ token }) => token).join('')).toBe(part!.text);
    expect(listed.map(({ top_logprobs }) => top_logprobs.length)).toEqual(Array(40).fill(2));
    const deltas = events.filter(({ type }) => type === 'response.output_text.delta');
    expect(deltas.flatMap(({ logprobs }) => logprobs)).toEqual(listed);
    const done = events.find(({ type }) => type === 'response.output_text.done');
    expect(done?.['logprobs']).toEqual(listed);
  });

  it('sends a long end in pieces', () => {
    const body = { input: 'Hi', ignore_eos: true, max_output_tokens: 300, top_logprobs: 20 };
    const outcome = outcomeOf({ ...body, include: ['message.output_text.logprobs'] });
    const [one, all] = [0, 1].map(
      () => new StreamedResponse(new ResponseOutcome(outcome.context, () => 2)),
    );
    for (const streamed of [one!, all!]) {
      streamed.open();
      streamed.tokens(0, 299);
      expect(streamed.finishSequence('length', 299, 1)).toBe('');
    }
    one!.keepEnd();
    const pieces: string[] = [];
    while (one!.isLate) pieces.push(one!.tokens(300, 0));
    pieces.push(one!.finishStream());
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(262_144);
    const whole = pieces.join('');
    expect(whole).toBe(all!.finishStream());
    expect(whole.match(/^event: .*$/gm)).toEqual([
      'event: response.output_text.delta',
      'event: response.output_text.done',
      'event: response.content_part.done',
      'event: response.output_item.done',
      'event: response.incomplete',
    ]);
    for (const [, data] of whole.matchAll(/^data: (\{.*)$/gm)) JSON.parse(data!);
  });
});
