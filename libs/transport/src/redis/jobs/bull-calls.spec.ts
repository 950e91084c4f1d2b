import { createRequire } from 'node:module';
import { Job, QueueKeys, Scripts } from 'bullmq';
import { describe, expect, it } from 'vitest';
import { BULLMQ_VERSION } from './bull-calls';

const { version } = createRequire(__filename)('bullmq/package.json') as { version: string };

describe('BullMQ as a data format', () => {
  it('is used in the version for which the calls beside its public ones were read', () => {
    // After an update read the changes of these calls, run test/conformance/transport.spec.ts, and
    // set the version.
    expect(version).toBe(BULLMQ_VERSION);
  });

  it('has the calls and keys that are used', () => {
    const calls = ['moveToActive', 'moveToCompletedArgs', 'moveJobFromActiveToWait'] as const;
    for (const name of calls) expect(Scripts.prototype[name], name).toBeTypeOf('function');
    expect(Job.prototype.addJob).toBeTypeOf('function');
    const keys = new QueueKeys('p').getKeys('q');
    expect(keys).toMatchObject({ wait: 'p:q:wait', active: 'p:q:active', stalled: 'p:q:stalled' });
  });
});
