import { createServer, type Server } from 'node:http';
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { type BatonConfig, type Certificate, readCertificate } from '@baton/config';
import type { Logger } from '@baton/telemetry';
import type { OnApplicationShutdown } from '@nestjs/common';
import { CertificateRefresh } from './certificate-refresh';
import { answerClientError } from './client-error';
import { addAcceptors } from './connections/acceptors';
import { isNew, NewConnections } from './connections/arrivals';
import { type RequestListener, RequestPacing } from './connections/request-pacing';
import { LongAnswers } from './streaming/long-answers';

const MS_PER_SECOND = 1_000;
/** Interval at which Node checks for requests that take too long. */
const TIMEOUT_CHECK_MS = 1_000;
/** Shortest time between two warnings that there are too many connections. */
const WARN_EVERY_MS = 60_000;

/** Numbers of Python's ssl module, as vLLM takes them. */
const CERT_NONE = 0;
const CERT_REQUIRED = 2;

/**
 * Makes the servers of this process, for the cluster's own port and for those of engines: HTTP, or
 * HTTPS when a certificate is configured, all with the same limits and error answers. Owns the
 * certificate and its refresh.
 */
export class Listeners implements OnApplicationShutdown {
  /** The connections of all listeners. */
  readonly arrivals = new NewConnections();
  readonly longAnswers = new LongAnswers();
  private readonly secure = new Set<SecureServer>();
  private readonly refresh: CertificateRefresh | undefined;

  /** @throws UsageError when the configured certificate cannot be used */
  constructor(
    private readonly config: BatonConfig,
    private readonly logger: Logger,
    private certificate: Certificate | undefined = readCertificate(config),
  ) {
    if (certificate === undefined || !config.enableSslRefresh) return;
    this.refresh = new CertificateRefresh(certificate, config, logger, (fresh) => this.use(fresh));
    this.refresh.start();
  }

  get scheme(): 'http' | 'https' {
    return this.certificate === undefined ? 'http' : 'https';
  }

  create(listener: RequestListener): Server | SecureServer {
    const { pass } = new RequestPacing(listener);
    const server =
      this.certificate === undefined
        ? createServer(serverLimits(this.config), pass)
        : this.createSecure(this.certificate, pass);
    server.on('error', (error) => {
      // A failure to listen is its caller's.
      if (server.listening)
        this.logger.warn({ err: error }, 'accepting a connection failed; the port stays open');
    });
    this.limitConnections(server);
    this.arrivals.watch(server);
    // One more than allowed, so that an excess is visible: Node drops the headers beyond the limit.
    server.maxHeadersCount = this.config.h11MaxHeaderCount + 1;
    server.on('clientError', (error, socket) =>
      answerClientError(error, socket as Socket, this.config),
    );
    return server;
  }

  /** Lets further sockets accept for a server that listens with `reusePort`. */
  share(server: Server | SecureServer): void {
    addAcceptors(server, this.scheme === 'http');
  }

  onApplicationShutdown(): void {
    this.refresh?.stop();
  }

  /** Node would count the connections of each listening socket alone. */
  private limitConnections(server: Server | SecureServer): void {
    const { maxConnections } = this.config;
    let [open, warnedMs] = [0, -Infinity];
    server.prependListener('connection', (socket: Socket) => {
      if (!isNew(socket)) return;
      if (open === maxConnections) {
        socket.destroy();
        const nowMs = performance.now();
        if (nowMs - warnedMs < WARN_EVERY_MS) return;
        warnedMs = nowMs;
        this.logger.warn(
          { most: maxConnections },
          'max_connections is reached; further connections are closed',
        );
        return;
      }
      open += 1;
      socket.once('close', () => (open -= 1));
    });
  }

  private createSecure(certificate: Certificate, listener: RequestListener): SecureServer {
    const { sslCertReqs, httpTimeoutHeaders } = this.config;
    const options = {
      ...serverLimits(this.config),
      ...certificate,
      requestCert: sslCertReqs !== CERT_NONE,
      rejectUnauthorized: sslCertReqs === CERT_REQUIRED,
      handshakeTimeout: httpTimeoutHeaders * MS_PER_SECOND,
    };
    const server = createSecureServer(options, listener);
    if (sslCertReqs !== CERT_NONE) server.on('secureConnection', refuseBadCertificate);
    this.secure.add(server);
    server.once('close', () => this.secure.delete(server));
    return server;
  }

  /** Open connections keep their certificate. */
  private use(certificate: Certificate): void {
    for (const server of this.secure) server.setSecureContext(certificate);
    this.certificate = certificate;
  }
}

/** A client certificate is optional, but it must be valid when present. */
function refuseBadCertificate(socket: TLSSocket): void {
  const hasShownOne = Object.keys(socket.getPeerCertificate() ?? {}).length > 0;
  if (hasShownOne && !socket.authorized) socket.destroy();
}

function serverLimits(config: BatonConfig) {
  const requestTimeout = config.httpTimeoutRequest * MS_PER_SECOND;
  const headersTimeout = Math.min(config.httpTimeoutHeaders * MS_PER_SECOND, requestTimeout);
  return {
    maxHeaderSize: config.h11MaxIncompleteEventSize,
    headersTimeout,
    requestTimeout,
    connectionsCheckingInterval: Math.min(TIMEOUT_CHECK_MS, headersTimeout),
    keepAliveTimeout: config.httpTimeoutKeepAlive * MS_PER_SECOND,
    noDelay: true,
    // A hook refuses such a request with an error in the dialect's shape.
    requireHostHeader: false,
  };
}
