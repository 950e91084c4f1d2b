import { reasonOf } from '@baton/kernel';
import { type BatonConfig, type Certificate, readCertificate } from '@baton/config';
import type { Logger } from '@baton/telemetry';

/** Kubernetes' projected files need no shorter interval; three small files are read each time. */
const LOOK_EVERY_MS = 1_000;

/**
 * Checks whether the certificate of the process has changed (`enable_ssl_refresh`) and passes the
 * new one on. Files that do not match, as when only one of the two has been written yet, leave the
 * old certificate in use; that is logged once per state of the files.
 */
export class CertificateRefresh {
  private timer: NodeJS.Timeout | undefined;
  private complaint: string | undefined;

  constructor(
    private current: Certificate,
    private readonly config: BatonConfig,
    private readonly logger: Logger,
    private readonly apply: (certificate: Certificate) => void,
  ) {}

  start(): void {
    this.timer = setInterval(() => this.look(), LOOK_EVERY_MS).unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  look(): void {
    try {
      const found = readCertificate(this.config);
      if (found === undefined || isSame(found, this.current)) return;
      this.apply(found);
      this.current = found;
      this.complaint = undefined;
      this.logger.info({ file: this.config.sslCertfile }, 'certificate refreshed');
    } catch (error) {
      const complaint = reasonOf(error);
      if (complaint === this.complaint) return;
      this.complaint = complaint;
      this.logger.warn(
        { why: complaint },
        'the changed certificate is not valid; the old one stays in use',
      );
    }
  }
}

function isSame(a: Certificate, b: Certificate): boolean {
  return a.key === b.key && a.cert === b.cert && a.ca === b.ca;
}
