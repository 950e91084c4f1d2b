import type { ServerResponse } from 'node:http';
import { BatonError, faultOfKvTransferParams } from '@baton/contract';
import type { GenerationRequest } from '@baton/openai';
import { Injectable } from '@nestjs/common';
import { ClusterView } from '../cluster/cluster-view';
import { ModelCatalog } from '../cluster/model-catalog';
import type { WaitingLeg, WaitingLegs } from '../observers/port/state';
import type { AnswerFacts, HeldFacts } from '../request/answer/answer';
import type { Call, UnreadCall } from '../request/take/call';
import { Config, Log } from '../tokens';
import { KvRelease, rawParamsOf } from './kv-release';
import { type Generated, type Leg, type SettledLeg } from './leg';
import { LegForms } from './leg-forms';
import { LegPairs, type Met } from './leg-pairs';

type KvParams = NonNullable<AnswerFacts['kvTransferParams']>;

/**
 * Takes the parameters of the held prompt, if any, and gives the fields that the client of the leg
 * gets.
 *
 * @param results one per sequence of the leg
 */
export type HeldAs = (params: KvParams | undefined, results: Generated['results']) => HeldFacts;

/**
 * The incoming legs of outside routers. Each is checked, and paired with its other leg when both
 * are under way.
 */
@Injectable()
export class Legs implements WaitingLegs {
  private readonly waiting = new Set<WaitingLeg>();
  /** By the response of the call, which belongs to no other call. */
  private readonly settled = new WeakMap<ServerResponse, SettledLeg>();

  constructor(
    private readonly config: Config,
    private readonly logger: Log,
    private readonly cluster: ClusterView,
    private readonly catalog: ModelCatalog,
    private readonly forms: LegForms,
    private readonly pairs: LegPairs,
    private readonly release: KvRelease,
  ) {}

  /**
   * The leg of the call; resolves when its other leg has progressed far enough.
   *
   * @throws BatonError `kv_reference_refused` with `strict_kv`, `kv_load_failed` by
   *   `kv_load_failure_policy`
   */
  async settle(
    call: Call,
    params: KvParams | undefined,
    promptTokens: number,
  ): Promise<SettledLeg> {
    const leg = await this.legAt(call, params);
    if (leg.kind === 'hold') this.pairs.prefillCame(leg.pairs);
    if (leg.kind !== 'meet') this.refuseMalformed(leg, params);
    const settled = leg.kind === 'meet' ? await this.meet(call, leg.pair, promptTokens) : leg;
    this.settled.set(call.response, settled);
    if (settled.kind === 'unusable') {
      this.logger.warn({ params, why: settled.why }, 'a leg is served without a KV transfer');
    }
    return settled;
  }

  /**
   * Records that the call ended without submission, so that its other leg does not wait.
   *
   * @param isFinal true when the client will not send it again, so that blocks held for it are free
   */
  refused(call: UnreadCall, isFinal: boolean): void {
    this.takeBack(call, isFinal).catch((error: unknown) => {
      this.logger.error({ err: error }, 'the other leg of a refused one waits for its time');
    });
  }

  /** The hook for the exchange of a prefill leg; undefined for all other legs. */
  heldAs(leg: SettledLeg, request: GenerationRequest): HeldAs | undefined {
    if (!('shows' in leg)) return undefined;
    const { shows } = leg;
    return (params, results) => {
      if (leg.kind === 'hold') this.pairs.prefillEnded(leg.pairs, params);
      const { tokenizer } = this.catalog.answerOptions;
      return shows(params, { request, results, tokenizer });
    };
  }

  [Symbol.iterator](): Iterator<WaitingLeg> {
    return this.waiting.values();
  }

  private async takeBack(call: UnreadCall, isFinal: boolean): Promise<void> {
    const raw = rawParamsOf(call.body);
    const leg = this.settled.get(call.response) ?? (await this.legAt(call, raw));
    if (leg.kind === 'hold') this.pairs.prefillRefused(leg.pairs);
    else if (leg.kind === 'meet') this.pairs.decodeRefused(leg.pair);
    if (leg.kind === 'attach' && (isFinal || leg.causeUs !== undefined)) {
      this.release.refused(leg.params);
    } else if (isFinal) this.release.refused(raw);
  }

  private legAt(
    { body, clientRequestId, engineId }: UnreadCall,
    params: KvParams | undefined,
  ): Promise<Leg> {
    const stage = engineId === undefined ? undefined : this.cluster.find(engineId)?.stage;
    return this.forms.legOf({ params, body, clientRequestId, stage });
  }

  private refuseMalformed(leg: SettledLeg, params: KvParams | undefined): void {
    if (!this.config.strictKv) return;
    const ofParams = params && faultOfKvTransferParams(params);
    if (leg.kind === 'unusable') throw refusal(leg.why, leg.field);
    if (ofParams !== undefined) throw refusal(ofParams);
  }

  private async meet(
    { response, engineId }: Call,
    pair: string,
    promptTokens: number,
  ): Promise<SettledLeg> {
    const left = new AbortController();
    const leave = (): void => left.abort();
    if (response.destroyed) leave();
    response.once('close', leave);
    const waiting = { engineId, promptTokens };
    this.waiting.add(waiting);
    const met = await this.pairs.meet(pair, left.signal).finally(() => {
      this.waiting.delete(waiting);
      response.off('close', leave);
    });
    if (met.kind === 'held') return { kind: 'attach', params: met.params, causeUs: met.atUs };
    return this.withoutPrefill(met.kind);
  }

  private withoutPrefill(why: Exclude<Met['kind'], 'held'>): SettledLeg {
    if (this.config.strictKv && why !== 'failed') throw refusal(SAID[why]);
    if (this.config.kvLoadFailurePolicy === 'fail') {
      this.logger.warn(`500: ${SAID[why]} (kv_load_failure_policy: fail)`);
      throw new BatonError('kv_load_failed');
    }
    return { kind: 'unusable', why: SAID[why] };
  }
}

const SAID = {
  failed: 'The prefill leg of this transfer has failed.',
  absent: 'kv_transfer_params name a transfer whose prefill leg has not come.',
  taken: 'kv_transfer_params name a transfer that another decode leg has taken.',
} as const;

function refusal(why: string, field = 'kv_transfer_params'): BatonError {
  return new BatonError('kv_reference_refused', why, field);
}
