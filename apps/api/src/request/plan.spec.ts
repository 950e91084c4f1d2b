import { describe, expect, it } from 'vitest';
import { BatonError } from '@baton/contract';
import { type GenerationRequest, parseCompletion } from '@baton/openai';
import { defaultTokenizer } from '@baton/text';
import { buildLengthModel } from '@baton/workload';
import type { KvCapacity } from '../cluster/kv-capacity';
import type { ModelCatalog } from '../cluster/model-catalog';
import type { Routed } from './admit/admission';
import { PlanStep } from './plan';
import type { Replies } from './plan/replies';
import type { Route } from './route/route';
import type { RequestThreads } from './threads/request-threads';

const tokenizer = defaultTokenizer();
const lengthModel = buildLengthModel({ kind: 'constant', tokens: 5 });
const PLANS = { tokenizer, seed: 1, lengthModel, reasoningLengthModel: lengthModel };
const LIMITS = { dialect: 'vllm' as const, tokenizer, models: ['m'], maxModelLen: 1_000 };

function routed(flow: Route['flow'], rest: object = {}): Routed {
  const body = { prompt: ['one', 'two'], n: 2, max_tokens: 7 };
  const request: GenerationRequest = parseCompletion(body, LIMITS);
  const routes = Array<Partial<Route>>(4).fill({ flow });
  return { call: {}, checked: { request, ...rest }, routes } as unknown as Routed;
}

function planStep(room: number, isIdle = true): { step: PlanStep; asked: () => number } {
  let asked = 0;
  const replies = {
    isIdle,
    to: () => {
      asked += 1;
      return Promise.resolve([]);
    },
  };
  const outputRoom = (): number => {
    if (room > 0) return room;
    throw new BatonError('kv_capacity_exceeded');
  };
  const step = new PlanStep(
    { plans: PLANS } as unknown as ModelCatalog,
    { outputRoom } as unknown as KvCapacity,
    replies as unknown as Replies,
    {} as RequestThreads,
  );
  return { step, asked: () => asked };
}

describe('planning a request', () => {
  it('makes one plan per sequence, no longer than the room for it', async () => {
    const plans = await planStep(100).step.plan(routed('route'));
    expect(plans.map(({ count }) => count)).toEqual([5, 5, 5, 5]);
    const short = await planStep(2).step.plan(routed('route'));
    expect(short.map(({ count }) => count)).toEqual([2, 2, 2, 2]);
  });

  it('refuses a request that no engine on its route can hold', async () => {
    await expect(planStep(0).step.plan(routed('route'))).rejects.toThrow(BatonError);
  });

  it('plans one token for a prompt that another router has computed', async () => {
    const plans = await planStep(100).step.plan(routed('hold'));
    expect(plans.map(({ count }) => count)).toEqual([1, 1, 1, 1]);
  });

  it.each([
    ['a request', routed('route'), 1],
    ['the prefill leg of another router', routed('hold'), 0],
    ['prompts that are only computed', routed('local', { isPooling: true }), 0],
  ])('asks the text model about %s %s times', async (_what, request, times) => {
    const { step, asked } = planStep(100, false);
    await step.plan(request);
    expect(asked()).toBe(times);
  });
});
