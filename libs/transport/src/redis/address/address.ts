import { Failure } from '@baton/kernel';
import type { RedisOptions } from 'ioredis';

/**
 * The address of a Redis, parsed from a URL. `label` is safe for logs: it never contains
 * credentials.
 */
export type RedisAddress =
  | { readonly kind: 'single'; readonly label: string; readonly options: RedisOptions }
  | {
      readonly kind: 'cluster';
      readonly label: string;
      readonly nodes: readonly HostAndPort[];
      readonly options: RedisOptions;
    };

export interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

const SHAPE = new RegExp(
  '^(?<scheme>[a-z+]+)://(?:(?<login>[^@/]*)@)?(?<hosts>[^/?]*)' +
    '(?<rest>[^?]*)(?:\\?(?<query>.*))?$',
  'i',
);
const SCHEMES =
  'redis://, rediss://, unix:/path, sentinel://host:port,…/master, cluster://host:port,…';

/**
 * Understands `redis://`, `rediss://` (TLS), `unix:/path` or a bare `/path`,
 * `sentinel://[user:password@]host:port,…/master[/db]` and `cluster://[user:password@]host:port,…`;
 * `?tls=true` adds TLS to the last two.
 *
 * @throws Failure for anything else.
 */
export function parseRedisAddress(url: string): RedisAddress {
  if (url.startsWith('/')) return unixAddress(url);
  if (url.startsWith('unix:'))
    return unixAddress(url.slice('unix:'.length).replace(/^\/\/(?=\/)/, ''));
  const parts = SHAPE.exec(url)?.groups;
  const scheme = parts?.['scheme']?.toLowerCase() ?? '';
  const hosts = parseHosts(parts?.['hosts'] ?? '', scheme.includes('sentinel') ? 26_379 : 6_379);
  if (parts === undefined || hosts === undefined) throw misunderstood();
  const query = new URLSearchParams(parts['query'] ?? '');
  const path = (parts['rest'] ?? '').split('/').slice(1);
  const login = parseLogin(parts['login'] ?? '');
  const tls = scheme === 'rediss' || query.get('tls') === 'true' ? { tls: {} } : {};
  const hostsLabel = hosts.map(({ host, port }) => `${host}:${port}`).join(',');
  switch (scheme) {
    case 'redis':
    case 'rediss':
      return single(`${scheme}://${hostsLabel}`, {
        ...only(hosts),
        ...login,
        ...tls,
        ...database(path[0]),
      });
    case 'sentinel':
    case 'redis+sentinel':
      if (!path[0]) throw misunderstood();
      return single(`sentinel://${hostsLabel}/${path[0]}`, {
        sentinels: hosts,
        name: path[0],
        ...login,
        ...tls,
        ...('tls' in tls ? { enableTLSForSentinelMode: true, sentinelTLS: {} } : {}),
        ...database(path[1]),
      });
    case 'cluster':
    case 'redis+cluster':
      return {
        kind: 'cluster',
        label: `cluster://${hostsLabel}`,
        nodes: hosts,
        options: { ...login, ...tls },
      };
    default:
      throw misunderstood();
  }
}

function unixAddress(path: string): RedisAddress {
  return single(`unix:${path}`, { path });
}

function single(label: string, options: RedisOptions): RedisAddress {
  return { kind: 'single', label, options };
}

function only(hosts: readonly HostAndPort[]): RedisOptions {
  const [first, second] = hosts;
  if (first === undefined || second !== undefined) throw misunderstood();
  return { ...first };
}

function database(text: string | undefined): RedisOptions {
  if (!text) return {};
  if (!/^\d+$/.test(text)) throw misunderstood();
  return { db: Number(text) };
}

function parseHosts(text: string, defaultPort: number): HostAndPort[] | undefined {
  const hosts: HostAndPort[] = [];
  for (const one of text.split(',')) {
    const match = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::(\d+))?$/i.exec(one);
    if (!match?.[1]) return undefined;
    const host = match[1].replace(/^\[|\]$/g, '');
    hosts.push({ host, port: match[2] === undefined ? defaultPort : Number(match[2]) });
  }
  return hosts;
}

function parseLogin(text: string): RedisOptions {
  if (text === '') return {};
  const colon = text.indexOf(':');
  const username = decodeURIComponent(colon < 0 ? text : text.slice(0, colon));
  const password = colon < 0 ? '' : decodeURIComponent(text.slice(colon + 1));
  return { ...(username === '' ? {} : { username }), ...(password === '' ? {} : { password }) };
}

function misunderstood(): Failure {
  return new Failure(`the address is not one of ${SCHEMES}`);
}
