import { parseRemoteRequestId, remoteRequestId } from '@baton/contract';
import { describe, expect, it } from 'vitest';
import { claimOn } from './kv-claim';

import fc from 'fast-check';

describe('a reference to held KV', () => {
  it('looks like vLLM’s remote request id and names its generation', () => {
    expect(remoteRequestId('cmpl-2f1c-0', 42)).toBe('cmpl-2f1c-0-0000002a');
    expect(parseRemoteRequestId('cmpl-2f1c-0-0000002a')).toEqual({
      requestId: 'cmpl-2f1c-0',
      generation: 42,
    });
  });

  it('is read back for any request id', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.nat(2 ** 40), (requestId, generation) => {
        fc.pre(!requestId.includes('\n'));
        const parsed = parseRemoteRequestId(remoteRequestId(requestId, generation));
        return parsed?.requestId === requestId && parsed.generation === generation;
      }),
    );
  });

  it.each(['', 'cmpl-1', 'cmpl-1-xyz', 'cmpl-1-0-2A'])('is none of ours: %j', (id) => {
    expect(parseRemoteRequestId(id)).toBeUndefined();
  });

  it('has another claim for other blocks, another length and another prompt', () => {
    const job = { promptTokens: 40, blockHashes: [11, 12] };
    const claims = [
      claimOn(job, [[1, 2, 3]], 16),
      claimOn(job, [[1, 3, 2]], 16),
      claimOn({ ...job, promptTokens: 41 }, [[1, 2, 3]], 16),
      claimOn({ ...job, blockHashes: [11, 13] }, [[1, 2, 3]], 16),
    ];
    expect(new Set(claims).size).toBe(4);
    expect(claimOn({ ...job, blockHashes: [11, 12, 99] }, [[1, 2, 3]], 16)).toBe(claims[0]);
  });
});
