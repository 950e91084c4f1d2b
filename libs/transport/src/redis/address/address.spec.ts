import { Failure } from '@baton/kernel';
import { describe, expect, it } from 'vitest';
import { parseRedisAddress } from './address';

describe('parseRedisAddress', () => {
  it.each([
    ['redis://localhost', { host: 'localhost', port: 6_379 }],
    ['redis://10.0.0.7:7000/3', { host: '10.0.0.7', port: 7_000, db: 3 }],
    ['redis://:p%40ss@h', { host: 'h', port: 6_379, password: 'p@ss' }],
    ['redis://me:pw@[::1]:7000', { host: '::1', port: 7_000, username: 'me', password: 'pw' }],
    ['rediss://h:1', { host: 'h', port: 1, tls: {} }],
    ['unix:/run/r.sock', { path: '/run/r.sock' }],
    ['unix:///run/r.sock', { path: '/run/r.sock' }],
    ['/run/r.sock', { path: '/run/r.sock' }],
    [
      'sentinel://:pw@a:1,b/main/2',
      {
        sentinels: [
          { host: 'a', port: 1 },
          { host: 'b', port: 26_379 },
        ],
        name: 'main',
        password: 'pw',
        db: 2,
      },
    ],
  ])('reads %s', (url, options) => {
    expect(parseRedisAddress(url)).toMatchObject({ kind: 'single', options });
  });

  it('reads the nodes of a cluster and its TLS', () => {
    expect(parseRedisAddress('cluster://me:pw@a:1,b:2?tls=true')).toEqual({
      kind: 'cluster',
      label: 'cluster://a:1,b:2',
      nodes: [
        { host: 'a', port: 1 },
        { host: 'b', port: 2 },
      ],
      options: { username: 'me', password: 'pw', tls: {} },
    });
  });

  it.each(['', 'localhost', 'http://h', 'redis://', 'redis://a,b', 'redis://h/x', 'sentinel://a'])(
    'refuses "%s"',
    (url) => {
      expect(() => parseRedisAddress(url)).toThrow(Failure);
    },
  );

  it.each(['redis://me:secret@h', 'sentinel://me:secret@h/main', 'cluster://me:secret@h'])(
    'keeps the login of %s out of its label',
    (url) => {
      expect(parseRedisAddress(url).label).not.toMatch(/me|secret/);
    },
  );
});
