import type { ServerResponse } from 'node:http';
import { BatonError, faultOfKvTransferParams } from '@baton/contract';
import { Injectable } from '@nestjs/common';
import { ClusterView } from '../cluster/cluster-view';
import type { WaitingLeg, WaitingLegs } from '../observers/port/state';
import type { AnswerFacts, HeldFacts } from '../request/answer/answer';
import type { Call, UnreadCall } from '../request/take/call';
import { Config, Log } from '../tokens';
import { opaqueStateOf } from './disaggregated-params';
import { KvRelease, rawParamsOf } from './kv-release';
import { type HoldReply, type Leg, legOf, type SettledLeg } from './leg';
import { LegPairs, type Met } from './leg-pairs';

type KvParams = NonNullable<AnswerFacts['kvTransferParams']>;
type HeldAs = (params: KvParams | undefined) => HeldFacts;

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
    const leg = this.legAt(call, params);
    if (leg.kind === 'hold') this.pairs.prefillCame(leg.pairs);
    if (leg.kind !== 'meet') this.refuseMalformed(leg, params);
    const settled = leg.kind === 'meet' ? await this.meet(call, leg.pair, promptTokens) : leg;
    this.settled.set(call.response, settled);
    if (settled.kind === 'unusable') {
      this.logger.warn({ params, why: settled.why }, 'a leg is served without a KV transfer');
    }
    return settled;
  }

  /** Records that the call ended without submission, so that its other leg does not wait. */
  refused(call: UnreadCall): void {
    const leg = this.settled.get(call.response) ?? this.legAt(call, rawParamsOf(call.body));
    if (leg.kind === 'hold') this.pairs.prefillRefused(leg.pairs);
    else if (leg.kind === 'meet') this.pairs.decodeRefused(leg.pair);
    else if (leg.kind === 'attach' && leg.causeUs !== undefined) {
      this.release.refused({ kv_transfer_params: leg.params });
    }
  }

  /** The hook for the exchange of a prefill leg; undefined for all other legs. */
  heldAs(leg: SettledLeg): HeldAs | undefined {
    if (leg.kind === 'none' && leg.reply === 'first-token') {
      return () => ({ kvTransferParams: undefined, includesFirstToken: true });
    }
    if (leg.kind !== 'hold') return undefined;
    return (params) => {
      this.pairs.prefillEnded(leg.pairs, params);
      return params === undefined ? { kvTransferParams: params } : shown(params, leg.reply);
    };
  }

  [Symbol.iterator](): Iterator<WaitingLeg> {
    return this.waiting.values();
  }

  private legAt(
    { body, clientRequestId, engineId }: UnreadCall,
    params: KvParams | undefined,
  ): Leg {
    const stage = engineId === undefined ? undefined : this.cluster.find(engineId)?.stage;
    return legOf({ params, body, clientRequestId, stage });
  }

  private refuseMalformed(leg: SettledLeg, params: KvParams | undefined): void {
    if (!this.config.strictKv) return;
    const ofParams = params && faultOfKvTransferParams(params);
    const fault = leg.kind === 'unusable' ? leg.why : ofParams;
    if (fault !== undefined) throw refusal(fault);
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
    if (this.config.kvLoadFailurePolicy === 'fail') throw new BatonError('kv_load_failed');
    return { kind: 'unusable', why: SAID[why] };
  }
}

const SAID = {
  failed: 'The prefill leg of this transfer has failed.',
  absent: 'kv_transfer_params name a transfer whose prefill leg has not come.',
  taken: 'kv_transfer_params name a transfer that another decode leg has taken.',
} as const;

function refusal(why: string): BatonError {
  const [field = 'kv_transfer_params'] = /^disaggregated_params/.exec(why) ?? [];
  return new BatonError('kv_reference_refused', why, field);
}

function shown(params: KvParams, reply: HoldReply): HeldFacts {
  if (reply === 'nothing') return { kvTransferParams: undefined };
  if (reply === 'params') return { kvTransferParams: params };
  if ('transferId' in reply) {
    return { kvTransferParams: { ...params, transfer_id: reply.transferId } };
  }
  const disaggregated = { id: reply.disaggregatedId, state: opaqueStateOf(params) };
  return { kvTransferParams: undefined, disaggregated };
}
