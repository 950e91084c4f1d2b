import type { EngineJob } from '@baton/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runsOf } from '../../../../test/support/runs';
import { settle } from '../../../clock/test/manual-wall-clock';
import { LEAD_US, PROMPT_US, World } from '../../test/test-world';
import type { EngineHost } from './engine-host';

type Operation =
  | { readonly kind: 'submit' | 'abort' | 'resubmit'; readonly which: number }
  | { readonly kind: 'advance' | 'stand-still'; readonly byUs: number }
  | { readonly kind: 'replace'; readonly role: 'prefill' | 'decode' }
  | { readonly kind: 'lose-locks' };

const which = fc.nat(5);
const byUs = fc.integer({ min: 100, max: 300_000 });
const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('submit' as const), which }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('advance' as const), byUs }) },
  fc.record({ kind: fc.constant('abort' as const), which }),
  fc.record({ kind: fc.constant('resubmit' as const), which }),
  fc.record({ kind: fc.constant('stand-still' as const), byUs }),
  fc.record({ kind: fc.constant('replace' as const), role: fc.constantFrom('prefill', 'decode') }),
  fc.record({ kind: fc.constant('lose-locks' as const) }),
);

const TOKENS = 12;
const ENGINE = {
  engine: { numBlocks: 24, maxNumSeqs: 4 },
  host: { maxRuns: 1_000, kvKeepUs: 1_000_000 },
};

/**
 * An API process that submits requests, aborts them, and resubmits those that the broker seems to
 * have lost.
 */
class Chaos {
  private readonly jobs = new Map<number, EngineJob>();
  private readonly aborted = new Set<number>();

  private constructor(
    readonly world: World,
    private readonly hosts: Record<'prefill' | 'decode', EngineHost>,
  ) {}

  static async open(): Promise<Chaos> {
    const world = await World.open();
    const prefill = await world.host('prefill', ENGINE);
    return new Chaos(world, { prefill, decode: await world.host('decode', ENGINE) });
  }

  async apply(operation: Operation): Promise<void> {
    const { world } = this;
    switch (operation.kind) {
      case 'submit':
        if (this.jobs.has(operation.which)) return;
        this.jobs.set(
          operation.which,
          await world.submit(operation.which, {
            outputTokens: TOKENS,
            ...(operation.which % 2 === 1 ? { keepsKv: true } : {}),
          }),
        );
        return;
      case 'abort':
        if (!this.jobs.has(operation.which)) return;
        this.aborted.add(operation.which);
        return world.abort(`request-${operation.which}-0`);
      case 'resubmit':
        return this.resubmit(operation.which);
      case 'advance':
        return world.wall.advance(operation.byUs);
      case 'stand-still':
        return world.wall.skip(operation.byUs * 8);
      case 'replace':
        await world.kill(this.hosts[operation.role]);
        this.hosts[operation.role] = await world.host(operation.role, ENGINE);
        return;
      case 'lose-locks':
        return world.loseLocks();
    }
  }

  /** Resubmits unfinished requests until all have ended. */
  async finish(): Promise<void> {
    for (let round = 0; this.open.length > 0; round += 1) {
      expect(round, 'every request ends').toBeLessThan(10);
      for (const id of this.open) await this.resubmit(id);
      await this.world.wall.advance(8_000_000);
    }
    // Leases of dead readers and of lost messages have expired by then.
    await this.world.wall.advance(40_000_000);
  }

  /** Expects that, after a few steps, an engine has no sequence that its host does not know. */
  async checkTheBooks(): Promise<void> {
    for (let step = 0; step < 3; step += 1) {
      await this.world.wall.advance(PROMPT_US);
      if (Object.values(this.hosts).every(agreesWithItsEngine)) return;
    }
    expect.fail('an engine keeps a sequence that its host has ended');
  }

  /**
   * Expects that no token is published earlier than by the lead of its step, and that no step of a
   * sequence begins before its cause.
   */
  checkCauses(): void {
    for (const [id, { causeUs }] of this.jobs) {
      for (const { kind, stepEndUs, first, atUs } of this.world.of(id)) {
        expect(atUs).toBeGreaterThanOrEqual(stepEndUs - LEAD_US);
        const begunUs = kind === 'scheduled' ? stepEndUs - first : stepEndUs;
        expect(begunUs).toBeGreaterThanOrEqual(causeUs);
      }
    }
  }

  get finished(): number[] {
    return [...this.jobs.keys()].filter((id) => !this.aborted.has(id));
  }

  livingBlocks(): number {
    return Object.values(this.hosts).reduce((sum, host) => sum + host.presence().gauges.kvUsage, 0);
  }

  private get open(): number[] {
    return this.finished.filter((id) => this.world.ended(id) === undefined);
  }

  private async resubmit(id: number): Promise<void> {
    const job = this.jobs.get(id);
    if (job === undefined || this.aborted.has(id) || this.world.ended(id)) return;
    const again = { ...job, submission: job.submission + 1 };
    this.jobs.set(id, again);
    await this.world.api.ledger.resubmit(again);
    await this.world.api.jobs.add('prefill', [again]);
    await settle();
  }
}

function agreesWithItsEngine({ engine, runs }: EngineHost): boolean {
  const { running, waiting, deferred } = engine.snapshot();
  return running + waiting + deferred <= runs.size;
}

describe('engine hosts under random failures', () => {
  it('end each request with its tokens in order (INV-7, INV-6) and free every block (INV-2)', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 40 }), async (operations) => {
        const chaos = await Chaos.open();
        const { world } = chaos;
        for (const each of operations) {
          await chaos.apply(each);
          await chaos.checkTheBooks();
        }
        await chaos.finish();
        for (const id of chaos.finished) {
          const end = world.ended(id);
          expect(end).toMatchObject({ reason: 'length', first: TOKENS });
          const tokens = world
            .of(id)
            .filter(({ kind, epoch }) => kind === 'tokens' && epoch === end?.epoch);
          expect(tokens.map(({ first }) => first)).toEqual(
            Array.from({ length: TOKENS - 1 }, (_none, i) => i),
          );
        }
        expect(chaos.livingBlocks()).toBe(0);
        chaos.checkCauses();
        await world.close();
      }),
      { numRuns: runsOf(60) },
    );
  });
});
