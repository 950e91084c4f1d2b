import { describe, expect, it } from 'vitest';
import { requestIdOf } from '../workload';
import { readTrace } from './open-trace';

const SHARED = Array.from({ length: 16 }, (_none, i) => 100 + i);

function received(at: string, id: string, maxTokens = 100): string {
  const params = `SamplingParams(n=1, max_tokens=${maxTokens}, min_tokens=0)`;
  const text = `Received request ${id}: params: ${params}, lora_request: None.`;
  return `(APIServer pid=7) INFO ${at} [logger.py:49] ${text}`;
}

function details(at: string, id: string, ids: readonly number[]): string {
  const prompt = `prompt: 'a, b', prompt_token_ids: [${ids.join(', ')}]`;
  return `DEBUG ${at} [logger.py:40] Request ${id} details: ${prompt}, prompt_embeds shape: None.`;
}

function generated(at: string, id: string, ids: string, kind = ''): string {
  const output = `output: 'x', output_token_ids: ${ids}, finish_reason: stop`;
  return `INFO ${at} [logger.py:70] Generated response ${id}${kind}: ${output}`;
}

function read(lines: readonly string[], limit?: number) {
  return readTrace(lines, { file: 'vllm.log', limit });
}

describe('the request log of vLLM', () => {
  it('gives times, lengths, ids and shared prefixes', () => {
    const { workload, report } = read([
      received('12-31 23:59:58', 'cmpl-a'),
      details('12-31 23:59:58', 'cmpl-a', [...SHARED, 1, 2]),
      'INFO:     10.0.0.1:5 - "POST /v1/completions HTTP/1.1" 200 OK',
      received('01-01 00:00:01', 'cmpl-b'),
      details('01-01 00:00:01', 'cmpl-b', [...SHARED, 3]),
      generated('01-01 00:00:02', 'cmpl-a', '[1, 2, 3]'),
    ]);
    expect(report).toMatchObject({ format: 'vllm', requests: 2 });
    expect([...workload.arrivalUs]).toEqual([0, 3_000_000]);
    expect([...workload.promptTokens]).toEqual([18, 17]);
    // An output that was not logged has the length of its max_tokens.
    expect([...workload.outputTokens]).toEqual([3, 100]);
    expect(requestIdOf(workload, 1)).toBe('cmpl-b');
    expect(workload.contentIds[0]).toBe(workload.contentIds[1]);
  });

  it('sums the deltas of a stream, whose last line has no ids', () => {
    const at = '02-13 11:33:33';
    const { workload } = read([
      received(at, 'cmpl-a'),
      details(at, 'cmpl-a', [1]),
      generated(at, 'cmpl-a', '[1]', ' (streaming delta)'),
      generated(at, 'cmpl-a', '[2, 3]', ' (streaming delta)'),
      generated(at, 'cmpl-a', 'None', ' (streaming complete)'),
    ]);
    expect([...workload.outputTokens]).toEqual([3]);
  });

  it('reads the older line with prompt and parameters together', () => {
    const given = "prompt: 'Hi', params: SamplingParams(n=1, max_tokens=5)";
    const ids = 'prompt_token_ids: [1, 2, 3], lora_request: None.';
    const text = `Received request cmpl-c-0: ${given}, ${ids}`;
    const line = `INFO 10-01 18:43:27 logger.py:36] ${text}`;
    const { workload } = read([line]);
    expect([workload.promptTokens[0], workload.outputTokens[0]]).toEqual([3, 5]);
  });

  it('reads only the first requests, with their outputs', () => {
    const at = '02-13 11:33:33';
    const lines = [
      received(at, 'cmpl-a'),
      details(at, 'cmpl-a', [1]),
      received(at, 'cmpl-b'),
      generated(at, 'cmpl-a', '[1, 2]'),
    ];
    const { workload } = read(lines, 1);
    expect([workload.count, workload.outputTokens[0]]).toEqual([1, 2]);
  });

  it('names the line of a request without a logged prompt, and the remedy', () => {
    expect(() => read([received('02-13 11:33:33', 'cmpl-a')])).toThrow(
      'vllm.log:1: the log has no prompt_token_ids of cmpl-a: run vLLM with VLLM_LOGGING_LEVEL',
    );
  });
});
