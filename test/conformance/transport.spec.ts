import type { TransportTimes } from '@baton/transport';
import { afterAll, beforeAll, describe } from 'vitest';
import { PrivateRedis } from '../support/redis-server';
import { describeAdmission } from './transport/admission';
import { describeBrokenJobs } from './transport/broken-jobs';
import { describeBullTools } from './transport/bull-tools';
import { describeBus } from './transport/bus';
import { describeConnection } from './transport/connection';
import { describeDocuments } from './transport/documents';
import { describeLedger } from './transport/ledger';
import { describeLedgerAgreement } from './transport/ledger-agreement';
import { describeLocks } from './transport/locks';
import { describePresence } from './transport/presence';
import { describeQueues } from './transport/queues';
import { describeRates } from './transport/rates';
import { describeRedisOnly } from './transport/redis-only';
import { describeRefusals } from './transport/refusals';
import { describeSteps } from './transport/steps';
import { describeTurns } from './transport/turns';
import {
  inProcessWorld,
  redisWorld,
  SHORT_LOCKS,
  SHORT_REDIS_LOCKS,
  type WorldFactory,
} from './transport/world';

/** Both adapters of the transport port have the same contract: one suite runs on each. */

function describeAll(makeWorld: WorldFactory, shortLocks: TransportTimes): void {
  describeQueues(makeWorld);
  describeTurns(makeWorld);
  describeLocks(makeWorld, shortLocks);
  describeBus(makeWorld);
  describeLedger(makeWorld);
  describeSteps(makeWorld);
  describePresence(makeWorld);
  describeAdmission(makeWorld);
  describeDocuments(makeWorld);
  describeRates(makeWorld);
  describeConnection(makeWorld);
}

describe('in-process transport', () => {
  describeAll(inProcessWorld, SHORT_LOCKS);
});

describe('Redis transport', () => {
  let server: PrivateRedis;
  beforeAll(async () => {
    server = await PrivateRedis.launch();
  });
  afterAll(() => server.close());

  describeAll((times) => redisWorld(server, times), SHORT_REDIS_LOCKS);
  describeLedgerAgreement(() => server);
  describeRedisOnly(() => server);
  describeBrokenJobs(() => server);
  describeBullTools(() => server);
  describeRefusals();
});
