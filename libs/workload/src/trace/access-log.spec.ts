import { describe, expect, it } from 'vitest';
import { readTrace } from './open-trace';

const CHAT = '127.0.0.1:54312 - "POST /v1/chat/completions HTTP/1.1" 200 OK';

function read(lines: readonly string[], limit?: number) {
  return readTrace(lines, { file: 'access.log', limit });
}

describe('the access log of vLLM', () => {
  it('gives the times of requests for tokens, in the format of Python\u2019s logging', () => {
    const { workload, report } = read([
      `2026-01-02 03:04:05,678 INFO ${CHAT}`,
      '2026-01-02 03:04:05,700 INFO 10.0.0.2:9 - "GET /metrics HTTP/1.1" 200 OK',
      '2026-01-02 03:04:06,000 INFO 10.0.0.2:9 - "POST /v1/completions HTTP/1.1" 400 Bad Request',
      '2026-01-02 03:04:07,178 INFO 10.0.0.2:9 - "POST /v1/completions HTTP/1.1" 200 OK',
    ]);
    expect(report).toMatchObject({ format: 'access', requests: 2, failed: 1 });
    expect([...workload.arrivalUs]).toEqual([0, 1_500_000]);
  });

  it('reads the times of vLLM\u2019s logger, across a new year', () => {
    const { workload } = read([
      `(APIServer pid=1) INFO 12-31 23:59:58 [uvicorn] ${CHAT}`,
      'not a line of the access log',
      `(APIServer pid=1) INFO 01-01 00:00:01 [uvicorn] ${CHAT}`,
    ]);
    expect([...workload.arrivalUs]).toEqual([0, 3_000_000]);
  });

  it('reads only the first requests', () => {
    const line = `2026-01-02T03:04:05Z INFO ${CHAT}`;
    expect(read([line, line, line], 2).workload.count).toBe(2);
  });

  it.each([`INFO:     ${CHAT}`, `2026-02-30 03:04:05,678 INFO ${CHAT}`])(
    'names the remedy for a line without a valid time: %s',
    (line) => {
      expect(() => read([line])).toThrow(
        'access.log:1: the access log has no valid time: add %(asctime)s to the format',
      );
    },
  );
});
