import { randomUUID } from 'node:crypto';
import type { Body, JsonObjectText } from '../server/json-object-text';
import type { UpstreamServer } from '../server/upstream-server';
import type { ClientRequest, KvConnector, PrefillLeg } from './kv-connector';
import { decodeBody, prefillBody } from './leg-bodies';

/**
 * Mooncake, following vLLM's Mooncake proxy
 * (`examples/disaggregated/mooncake_connector/mooncake_connector_proxy.py`): the bootstrap server
 * of prefill gives the id of its engine by data-parallel rank, both legs have the same
 * `transfer_id`, and prefill's answer has no parameters.
 */
export class Mooncake implements KvConnector {
  /** Engine ids by rank. Empty until the bootstrap server has answered. */
  private engineIds: readonly string[] = [];
  private turn = 0;

  /**
   * @param bootstrap of the prefill server, `http://host:port`; undefined: no prefill leg is sent
   */
  constructor(
    private readonly server: UpstreamServer,
    private readonly bootstrap: string | undefined,
  ) {}

  async isReady(): Promise<boolean> {
    if (this.bootstrap === undefined || this.engineIds.length > 0) return true;
    this.engineIds = engineIdsIn(await this.server.query(this.bootstrap, '/query'));
    return this.engineIds.length > 0;
  }

  forget(): void {
    this.engineIds = [];
  }

  prefillLeg({ body }: ClientRequest): PrefillLeg {
    const transfer_id = `xfer-${randomUUID()}`;
    const rank = this.turn % Math.max(1, this.engineIds.length);
    this.turn += 1;
    const early = {
      do_remote_decode: false,
      do_remote_prefill: true,
      remote_bootstrap_addr: this.bootstrap,
      remote_engine_id: this.engineIds[rank],
      transfer_id,
    };
    return {
      body: prefillBody(body, { do_remote_decode: true, do_remote_prefill: false, transfer_id }),
      headers: { 'x-data-parallel-rank': String(rank) },
      early,
      decodeLegParams: () => early,
    };
  }

  decodeBody(body: JsonObjectText, params: Body | undefined): JsonObjectText {
    return decodeBody(body, params);
  }
}

/** Reads `{ "0": { "engine_id": "…" }, … }`. Empty when a rank is missing. */
function engineIdsIn(answer: Body | undefined): readonly string[] {
  const entries = Object.values(answer ?? {});
  const ids = entries.map((_entry, rank) => engineIdOf(answer?.[String(rank)]));
  return ids.every((id) => id !== undefined) ? ids : [];
}

function engineIdOf(entry: unknown): string | undefined {
  if (typeof entry !== 'object' || entry === null || !('engine_id' in entry)) return undefined;
  return typeof entry.engine_id === 'string' ? entry.engine_id : undefined;
}
