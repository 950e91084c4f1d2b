import { BatonError, type CatalogueEntry, type UpstreamFailure } from '@baton/contract';

/** A request's error from an upstream server, written in the client's dialect. */
export class UpstreamError extends BatonError {
  constructor(private readonly failure: UpstreamFailure) {
    super('upstream_error', failure.message, failure.param);
  }

  /** The same error at another name of its parameter. */
  at(param: string | null): UpstreamError {
    return new UpstreamError({ ...this.failure, param });
  }

  override get entry(): CatalogueEntry {
    const { status, type, upstreamCode } = this.failure;
    const known = super.entry;
    return {
      ...known,
      status,
      vllmType: type ?? (status < 500 ? 'BadRequestError' : known.vllmType),
      openaiType: status < 500 ? 'invalid_request_error' : known.openaiType,
      openaiCode: typeof upstreamCode === 'string' ? upstreamCode : null,
    };
  }
}
