import type { FastifyRequest } from 'fastify';
import { pathOf } from '../request-context';

/** Path prefixes for which vLLM requires a key. */
const GUARDED = ['/v1', '/v2', '/inference', '/generate', '/cohere'];
/** Paths with work for engines that vLLM serves without a key. */
const OPEN_WORK = /^\/(pooling|classify|score|rerank)$/;
const MESSAGES = /^\/v1\/messages(\/|$)/;

/**
 * The matched route and the path of a request. Both are checked, because a router may accept a
 * spelling of a path that a comparison of prefixes misses.
 */
export interface RequestedPath {
  /** Pattern of the route; undefined when there is none. */
  readonly route: string | undefined;
  readonly path: string;
}

export function requestedPath({ routeOptions, url }: FastifyRequest): RequestedPath {
  return { route: routeOptions.url, path: pathOf(url) };
}

export function isGuarded(requested: RequestedPath): boolean {
  return spellings(requested).some((path) =>
    GUARDED.some((beginning) => path.startsWith(beginning)),
  );
}

/** True when the request counts against the limits of its tenant. */
export function isLimited(requested: RequestedPath): boolean {
  return isGuarded(requested) || spellings(requested).some((path) => OPEN_WORK.test(path));
}

/** True where Anthropic's clients send their key in a header of their own. */
export function takesAnthropicKey(requested: RequestedPath): boolean {
  return spellings(requested).some((path) => MESSAGES.test(path));
}

function spellings({ route, path }: RequestedPath): readonly string[] {
  return route === undefined ? [path] : [route, path];
}
