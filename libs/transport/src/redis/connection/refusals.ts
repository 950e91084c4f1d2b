import { TransportRefused } from '../../port/failures';
import type { RedisAddress } from '../address/address';
import type { Keys } from '../keys';

/** A server that speaks TLS answers the first bytes with an alert, whose first byte is 0x15. */
const TLS_ALERT = /Protocol error, got "\\u0015"/;
const NOT_REDIS = /^Protocol error/;
const NOT_TLS = /wrong version number|packet length too long|SSL routines/;
const UNTRUSTED = /certificate/;
const CLOSED = /max retries per request|Connection is closed/;
const CLUSTER_NODE = /^(MOVED|ASK|CROSSSLOT|CLUSTERDOWN)\b/;

/**
 * The failures of a first connection that no waiting mends, each with its remedy. Undefined for
 * every other failure: the server may be starting.
 */
export function refusalOf(
  error: unknown,
  address: RedisAddress,
  keys: Keys,
): TransportRefused | undefined {
  if (!(error instanceof Error)) return undefined;
  const { message } = error;
  const { label } = address;
  const as = (scheme: string): string => label.replace(/^\w+:\/\//, `${scheme}://`);
  if (isDenied(error)) return new TransportRefused(deniedLine(error, address, keys));
  if (NOT_TLS.test(message))
    return new TransportRefused(`${label} does not use TLS: write ${as('redis')}.`);
  if (TLS_ALERT.test(message))
    return new TransportRefused(`${label} expects TLS: write ${as('rediss')}.`);
  if (UNTRUSTED.test(message))
    return new TransportRefused(
      `The certificate of ${label} is not trusted (${message}): set NODE_EXTRA_CA_CERTS to the ` +
        'file of its authority.',
    );
  if (NOT_REDIS.test(message)) {
    return new TransportRefused(`${label} is not a Redis: another server answers there.`);
  }
  if (address.kind === 'cluster' || address.options.sentinels !== undefined) return undefined;
  if (CLUSTER_NODE.test(message))
    return new TransportRefused(
      `${label} is a node of a Redis Cluster (${message}): write ${as('cluster')}, and let the ` +
        'cluster serve all slots.',
    );
  if (message.startsWith('READONLY'))
    return new TransportRefused(
      `${label} is a read-only replica: name its primary, or its sentinels as ` +
        'sentinel://host:port,…/name.',
    );
  return undefined;
}

/** The server has ended a connection without an answer to its first command. */
export function isClosedUnanswered(error: unknown): boolean {
  return error instanceof Error && CLOSED.test(error.message);
}

/** For a server that ends every connection so: one that speaks TLS does. */
export function closesUnanswered({ label }: RedisAddress): TransportRefused {
  const remedy = label.startsWith('redis://')
    ? `if it expects TLS, write ${label.replace('redis://', 'rediss://')}.`
    : 'check that a Redis listens there.';
  return new TransportRefused(`${label} ends each connection without an answer: ${remedy}`);
}

/** The user of the connection lacks a permission. Scripts report it in other words. */
export function isDenied(error: unknown): boolean {
  return (
    error instanceof Error && /^NOPERM\b|can't run this command|ACL failure/.test(error.message)
  );
}

/** The line about a denied command, key or channel. */
export function deniedLine(error: Error, { label, options }: RedisAddress, keys: Keys): string {
  const { message } = error;
  const ours = keys.channel('*');
  const name =
    /the '([^']+)' command/.exec(message)?.[1] ?? (error as DeniedError).command?.name ?? '';
  const what = /channel/.test(message)
    ? `the channels ${ours} (command '${name}')`
    : /access (a|one of the) keys?\b/.test(message)
      ? `the keys ${ours} (command '${name}')`
      : `the command '${name}'`;
  return (
    `${label} denies its user '${options.username ?? 'default'}' ${what}: allow that user ` +
    `~${ours} &${ours} +@all -@dangerous.`
  );
}

interface DeniedError extends Error {
  readonly command?: { readonly name: string };
}
