import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { AttackedCluster } from './attacked-cluster';
import { HOSTILE_RULES, RULE_ROWS } from './rule-rows';

let folder: string;
let attacked: AttackedCluster;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'baton-rules-'));
  const path = join(folder, 'rules.yaml');
  // YAML contains JSON.
  writeFileSync(path, JSON.stringify(HOSTILE_RULES));
  attacked = await AttackedCluster.start(['--text-model=rules', `--rules-path=${path}`]);
});

afterAll(async () => {
  await attacked.stop();
  rmSync(folder, { recursive: true });
});

describe('a request whose messages are slow to match with rules', () => {
  it.each(RULE_ROWS)('does not disturb other clients: $title', (attack) =>
    attacked.withstands(attack),
  );

  it('leaves no memory behind', () => attacked.untilMemoryIsFree());
});
