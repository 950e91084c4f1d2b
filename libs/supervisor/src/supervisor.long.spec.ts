import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultConfig, UsageError } from '@baton/config';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { waitUntil } from '../../../test/support/wait';
import type { ProcessSpec } from './supervised-process';
import { Supervisor } from './supervisor';

const STAYS = 'setInterval(() => undefined, 1000);';

let folder: string;
let lines: string[];
let givenUp: string[];
let exitCodes: number[];
let supervisor: Supervisor | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-supervisor-'));
  lines = [];
  givenUp = [];
  exitCodes = [];
});

afterEach(() => supervisor?.kill());

function program(name: string, source: string): ProcessSpec {
  const entry = join(folder, `${name}.cjs`);
  const preload = join(folder, 'nothing.cjs');
  writeFileSync(preload, '');
  writeFileSync(entry, source.replaceAll('FOLDER', JSON.stringify(folder)));
  return { name, entry, preload, config: defaultConfig({ port: 1234 }) };
}

function supervise(...specs: ProcessSpec[]): Supervisor {
  supervisor = new Supervisor(specs, {
    onLine: (name, line) => lines.push(`${name}: ${line}`),
    onReady: (name) => lines.push(`${name} is ready`),
    onGivenUp: (sentence, exitCode) => {
      givenUp.push(sentence);
      exitCodes.push(exitCode);
    },
    onStartEngines: (role, count) => {
      lines.push(`${count} ${role} wanted`);
      if (count > 1) throw new UsageError('One at a time.');
    },
  });
  supervisor.start();
  return supervisor;
}

async function untilLine(part: string): Promise<void> {
  await waitUntil(() => lines.some((line) => line.includes(part)), { what: `"${part}" is said` });
}

describe('the supervisor', () => {
  it('passes its configuration to a child, and passes on the child’s output', async () => {
    const source =
      'console.log(JSON.parse(process.env.BATON_CONFIG).port, process.env.BATON_PROCESS);';
    supervise(program('decode-0', source + STAYS));
    await untilLine('decode-0: 1234 decode-0');
  });

  it('starts a crashed child again', async () => {
    const source = `
      const marker = require('node:path').join(FOLDER, 'crashed');
      const fs = require('node:fs');
      if (!fs.existsSync(marker)) { fs.writeFileSync(marker, ''); process.kill(process.pid, 'SIGKILL'); }
      console.log('second life');`;
    supervise(program('prefill-0', source + STAYS));
    await untilLine('prefill-0: ended by SIGKILL; starting it again in 100 ms');
    await untilLine('prefill-0: second life');
    expect(givenUp).toEqual([]);
  });

  it('starts a child again that could not be started', async () => {
    let starts = 0;
    const launch = (): ChildProcess =>
      starts++ === 0
        ? spawn('/no/such/program')
        : spawn(process.execPath, ['-e', `console.log('lives');${STAYS}`]);
    supervise({ ...program('decode-0', ''), launch });
    await untilLine('decode-0: ended: spawn /no/such/program ENOENT; starting it again in 100 ms');
    await untilLine('decode-0: lives');
  });

  it('learns that a child is ready', async () => {
    supervise(program('decode-0', `process.send({ kind: 'ready' });${STAYS}`));
    await untilLine('decode-0 is ready');
  });

  it('gives up a child that exits with a usage error', async () => {
    supervise(program('api', 'process.exit(2)'));
    await waitUntil(() => givenUp.length > 0, { what: 'it is given up' });
    expect(givenUp).toEqual(['api ended with exit code 2 and is not started again.']);
    expect(exitCodes).toEqual([2]);
  });

  it('stops the API before the workers, so that requests under way can end', async () => {
    const record = (name: string): string => `
      process.on('SIGTERM', () => {
        require('node:fs').appendFileSync(require('node:path').join(FOLDER, 'ended'), '${name} ');
        process.exit(0);
      });
      console.log('up');`;
    const target = supervise(
      program('decode-0', record('decode-0') + STAYS),
      program('api', record('api') + STAYS),
    );
    await untilLine('decode-0: up');
    await untilLine('api: up');
    await target.stop(5_000);
    expect(readFileSync(join(folder, 'ended'), 'utf8')).toBe('api decode-0 ');
  });

  it('ends a child that is paused', async () => {
    const target = supervise(program('prefill-0', `console.log('pid', process.pid);${STAYS}`));
    await untilLine('pid');
    const pid = Number(
      lines
        .find((line) => line.includes('pid'))
        ?.split(' ')
        .at(-1),
    );
    process.kill(pid, 'SIGSTOP');
    await target.stop(5_000);
    expect(existsSync(`/proc/${pid}`)).toBe(false);
  });

  it('starts nothing again once it stops', async () => {
    const target = supervise(program('decode-0', 'process.exit(1)'));
    await untilLine('starting it again');
    await target.stop(1_000);
    const told = lines.length;
    await target.stop(1_000);
    expect(lines.length).toBe(told);
  });

  it('does not restart a child whose engines have all left, however it ends', async () => {
    const target = supervise(
      program('decode-0', `process.send({ kind: 'engines', engines: '' });process.exitCode = 1;`),
    );
    await untilLine('decode-0: has left the cluster');
    expect(target.size).toBe(0);
    expect(lines.filter((line) => line.includes('starting it again'))).toEqual([]);
  });

  it('restarts a crashed child with its engines at the time', async () => {
    const source = `
      process.send({ kind: 'engines', engines: '1P2D' }, () => process.kill(process.pid, 'SIGKILL'));`;
    supervise(program('decode-0', source + STAYS));
    await untilLine('ended by SIGKILL; starting it again');
    // This spec has no compiled apps, so the output of the next start names the app.
    await untilLine('prefill/src/main.js');
  });

  it('starts a further worker, and ends it with the others', async () => {
    const target = supervise(program('api', STAYS));
    target.add(program('decode-7', `console.log('pid', process.pid);${STAYS}`));
    await untilLine('decode-7: pid');
    expect(target.size).toBe(2);
    await target.stop(1_000);
    const pid = lines.find((line) => line.startsWith('decode-7: pid'))?.split(' ')[2];
    expect(existsSync(`/proc/${pid}`)).toBe(false);
    target.add(program('decode-8', STAYS));
    expect(target.size).toBe(2);
  });

  it('answers the API’s request for engines, even when there can be none', async () => {
    const source = `
      process.on('message', (answer) => console.log(JSON.stringify(answer)));
      for (const count of [1, 2])
        process.send({ kind: 'start-engines', id: count, role: 'decode', count });`;
    supervise(program('api', source + STAYS));
    await untilLine('{"kind":"engines-started","id":1}');
    await untilLine('{"kind":"engines-started","id":2,"refusal":"One at a time."}');
    expect(lines).toContain('1 decode wanted');
  });
});
