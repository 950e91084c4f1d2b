import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type {
  OwnScaleContext,
  OwnScalePolicy,
  FlowContext,
  FlowPolicy,
  AdmissionContext,
  AdmissionPolicy,
  PlacementContext,
  Policy,
} from '@baton/policies';
import type { SchedulingPolicy, WaitingView } from '@baton/engine';
import type { RandomStream } from '@baton/kernel';
import { afterAll, describe, expect, it } from 'vitest';
import type * as published from '../../examples/policies/policies';
import { ROOT } from '../tidy/repository';

/** Compiles only when Baton passes what the published type promises. */
type Passes<Given extends Published, Published> = [Given, Published];
/** Compiles only when Baton can run what the published type allows. */
type Runs<Published extends Taken, Taken> = [Published, Taken];

/** The compiler checks these, with `npm run check`. */
export type Checked = [
  Passes<PlacementContext, published.PlacementContext>,
  Passes<AdmissionContext, published.AdmissionContext>,
  Passes<WaitingView, published.SequenceView>,
  Passes<FlowContext, published.FlowContext>,
  Passes<OwnScaleContext, published.ScalingContext>,
  Passes<RandomStream, published.Random>,
  Runs<published.PlacementPolicy, Policy>,
  Runs<published.AdmissionPolicy, AdmissionPolicy>,
  Runs<published.SchedulingPolicy, SchedulingPolicy>,
  Runs<published.FlowPolicy, FlowPolicy>,
  Runs<published.ScalingPolicy, OwnScalePolicy>,
];

const folder = mkdtempSync(join(tmpdir(), 'baton-types-'));
afterAll(() => rmSync(folder, { recursive: true }));

const MODULES = {
  'good.mjs':
    "/** @type {import('./policies.d.ts').PlacementModule} */\n" +
    'export default { create: () => ({ choose: ({ engines }) => engines.length - 1 }) };\n',
  'bad.mjs':
    "/** @type {import('./policies.d.ts').AdmissionModule} */\n" +
    'export default { create: () => ({ admit: ({ outputTokens }) => 1 }) };\n',
};
const COMPILER = {
  noEmit: true,
  strict: true,
  allowJs: true,
  checkJs: true,
  module: 'nodenext',
  types: [],
  lib: ['es2022'],
};

/** The messages of the compiler about the modules, beside the published types. */
function complaints(): readonly string[] {
  copyFileSync(join(ROOT, 'examples/policies/policies.d.ts'), join(folder, 'policies.d.ts'));
  for (const [name, text] of Object.entries(MODULES)) writeFileSync(join(folder, name), text);
  const project = { compilerOptions: COMPILER, files: Object.keys(MODULES) };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(project));
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const { stdout } = spawnSync(process.execPath, [tsc, '-p', '.'], {
    cwd: folder,
    encoding: 'utf8',
  });
  return stdout.trim().split(/\n(?=\S)/);
}

describe('the published types of policies', () => {
  it('accept a policy in JavaScript alone, and show a wrong answer and an unknown field', () => {
    const found = complaints();
    expect(found).toEqual([
      expect.stringMatching(/^bad\.mjs[\s\S]*Type 'number' is not assignable to type 'boolean'/),
      expect.stringMatching(/^bad\.mjs.*Property 'outputTokens' does not exist/),
    ]);
  });
});
