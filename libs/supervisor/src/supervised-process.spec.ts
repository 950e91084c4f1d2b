import type { ChildProcess } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { defaultConfig } from '@baton/config';
import { expect, it } from 'vitest';
import { SupervisedProcess } from './supervised-process';

it('reports every order that does not reach the process', () => {
  const child = Object.assign(new EventEmitter(), { pid: 4711 });
  const lines: string[] = [];
  const supervised = new SupervisedProcess(
    {
      name: 'api',
      entry: 'main.js',
      config: defaultConfig(),
      launch: () => child as unknown as ChildProcess,
    },
    {
      onLine: (_name, line) => void lines.push(line),
      onReady: () => undefined,
      onGivenUp: () => undefined,
    },
  );
  supervised.start();
  child.emit('error', new Error('write EPIPE'));
  child.emit('error', new Error('Channel closed'));
  expect(lines).toEqual(['write EPIPE', 'Channel closed']);
});
