import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import type { BatonConfig } from '../config';
import { readOptionFile } from '../option-file';
import { UsageError } from '../usage-error';

/** The certificate and the trusted authorities of a TLS server, as PEM. */
export interface Certificate {
  readonly key: string;
  /** The server's certificate first, then the chain of its issuers. */
  readonly cert: string;
  readonly ca?: string;
}

type TlsConfig = Pick<BatonConfig, 'sslKeyfile' | 'sslCertfile' | 'sslCaCerts' | 'sslCertReqs'>;

/**
 * Reads and checks the files that `ssl_*` options name; undefined when none does, and the API
 * speaks plain HTTP. A certificate file may hold the private key as well.
 *
 * @throws UsageError, one sentence that names option and file
 */
export function readCertificate(config: TlsConfig): Certificate | undefined {
  const { sslKeyfile, sslCertfile, sslCaCerts, sslCertReqs } = config;
  if (sslCertfile === undefined) {
    if (sslKeyfile !== undefined) throw needsCertificate('ssl_keyfile');
    if (sslCaCerts !== undefined) throw needsCertificate('ssl_ca_certs');
    if (sslCertReqs !== 0) throw needsCertificate('ssl_cert_reqs');
    return undefined;
  }
  const cert = readOptionFile('ssl_certfile', sslCertfile);
  const own = parseCertificate('ssl_certfile', sslCertfile, cert);
  const keyFile = sslKeyfile ?? sslCertfile;
  const key = sslKeyfile === undefined ? cert : readOptionFile('ssl_keyfile', sslKeyfile);
  if (!own.checkPrivateKey(parseKey(keyFile, key))) {
    throw new UsageError(
      `The private key in ${keyFile} does not belong to the certificate in ${sslCertfile}.`,
    );
  }
  if (sslCaCerts === undefined) return { key, cert };
  return { key, cert, ca: readAuthorities('ssl_ca_certs', sslCaCerts) };
}

/**
 * The certificates in the file that an option names, as PEM. @throws UsageError as
 * `readCertificate`
 */
export function readAuthorities(option: string, path: string): string {
  const ca = readOptionFile(option, path);
  parseCertificate(option, path, ca);
  return ca;
}

function needsCertificate(option: string): UsageError {
  return new UsageError(`${option} has no effect without ssl_certfile.`);
}

function parseCertificate(option: string, path: string, pem: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch {
    throw new UsageError(`${option}: ${path} holds no certificate in PEM.`);
  }
}

function parseKey(path: string, pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    throw new UsageError(`ssl_keyfile: ${path} holds no private key in PEM without a passphrase.`);
  }
}
