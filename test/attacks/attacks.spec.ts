import { afterAll, beforeAll, describe, it } from 'vitest';
import { AttackedCluster } from './attacked-cluster';
import { ATTACKS } from './rows';

let attacked: AttackedCluster;

beforeAll(async () => {
  attacked = await AttackedCluster.start();
});

afterAll(() => attacked.stop());

describe('a request that takes long to process', () => {
  it.each(ATTACKS)('does not disturb other clients: $title', (attack) =>
    attacked.withstands(attack),
  );

  it('leaves no memory behind', () => attacked.untilMemoryIsFree());
});
