import type { IncomingHttpHeaders } from 'node:http';
import type { BatonConfig } from '@baton/config';

type CorsConfig = Pick<
  BatonConfig,
  'allowedOrigins' | 'allowedMethods' | 'allowedHeaders' | 'allowCredentials'
>;

export interface PreflightAnswer {
  readonly status: 200 | 400;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

const ANY = '*';
const ALL_METHODS = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'];
/** Headers that a page may send to any origin. */
const SAFE_HEADERS = ['Accept', 'Accept-Language', 'Content-Language', 'Content-Type'];
const MAX_AGE_SECONDS = '600';

/**
 * Decides which web pages may read answers, by the rules of Starlette's CORSMiddleware, which vLLM
 * configures with the same four options. When every origin is allowed, answers to requests without
 * an origin carry the header too.
 */
export class Cors {
  private readonly anyOrigin: boolean;
  private readonly anyHeader: boolean;
  private readonly methods: readonly string[];
  private readonly headers: readonly string[];

  constructor(private readonly config: CorsConfig) {
    const { allowedMethods, allowedHeaders } = config;
    this.anyOrigin = config.allowedOrigins.includes(ANY);
    this.anyHeader = allowedHeaders.includes(ANY);
    this.methods = allowedMethods.includes(ANY) ? ALL_METHODS : allowedMethods;
    this.headers = [...new Set([...SAFE_HEADERS, ...allowedHeaders])].sort();
  }

  /** The headers of an answer to a request with these headers. */
  simple({ origin, cookie }: IncomingHttpHeaders): Record<string, string> {
    const { allowCredentials } = this.config;
    const credentials = allowCredentials ? { 'access-control-allow-credentials': 'true' } : {};
    const isNamed = this.anyOrigin ? cookie !== undefined : this.isAllowed(origin);
    if (isNamed && origin !== undefined) return { ...credentials, ...named(origin) };
    const anyone = this.anyOrigin ? { 'access-control-allow-origin': ANY } : {};
    return { ...credentials, ...anyone };
  }

  /** @param headers  of an OPTIONS request with Origin and Access-Control-Request-Method */
  preflight(headers: IncomingHttpHeaders): PreflightAnswer {
    const { origin } = headers;
    const method = headers['access-control-request-method'] ?? '';
    const wanted = headers['access-control-request-headers'];
    const failures = [
      ...(this.isAllowed(origin) ? [] : ['origin']),
      ...(this.methods.includes(method) ? [] : ['method']),
      ...(this.areAllowed(wanted) ? [] : ['headers']),
    ];
    const answer = { ...this.granted(origin), ...this.allowedHeaders(wanted) };
    return failures.length === 0
      ? { status: 200, headers: answer, text: 'OK' }
      : { status: 400, headers: answer, text: `Disallowed CORS ${failures.join(', ')}` };
  }

  private granted(origin: string | undefined): Record<string, string> {
    const { allowCredentials } = this.config;
    const isAnyones = this.anyOrigin && !allowCredentials;
    const own = this.isAllowed(origin) ? named(origin ?? ANY) : { vary: 'Origin' };
    return {
      ...(isAnyones ? { 'access-control-allow-origin': ANY } : own),
      'access-control-allow-methods': this.methods.join(', '),
      'access-control-max-age': MAX_AGE_SECONDS,
      ...(allowCredentials ? { 'access-control-allow-credentials': 'true' } : {}),
    };
  }

  private allowedHeaders(wanted: string | undefined): Record<string, string> {
    if (!this.anyHeader) return { 'access-control-allow-headers': this.headers.join(', ') };
    return wanted === undefined ? {} : { 'access-control-allow-headers': wanted };
  }

  private isAllowed(origin: string | undefined): boolean {
    return this.anyOrigin || (origin !== undefined && this.config.allowedOrigins.includes(origin));
  }

  private areAllowed(wanted: string | undefined): boolean {
    if (this.anyHeader || wanted === undefined) return true;
    const allowed = this.headers.map((header) => header.toLowerCase());
    return wanted.split(',').every((header) => allowed.includes(header.trim().toLowerCase()));
  }
}

function named(origin: string): Record<string, string> {
  return { 'access-control-allow-origin': origin, vary: 'Origin' };
}
