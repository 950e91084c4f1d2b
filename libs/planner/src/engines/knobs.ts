import { type BatonConfig, type ConfigKey, UsageError } from '@baton/config';
import type { EngineRole, Topology } from '@baton/policies';
import { poolOf } from '@baton/simulation';
import type { Settings } from '../candidates/candidates';
import type { Engines } from '../candidates/rate-match';

/** An option that a plan sets for each design, and the values that it tries. */
export interface Knob {
  readonly key: ConfigKey;
  readonly values: readonly unknown[];
}

const TOKEN_BUDGETS = [512, 1_024, 2_048, 4_096, 8_192, 16_384] as const;
const BATCH_SIZES = [16, 32, 64, 128, 256, 512, 1_024] as const;
const PROMPT_CHUNKS = [0, 256, 512, 1_024, 2_048] as const;
/** Policies that spread work, and those that follow prefixes. */
const PLACEMENTS = ['pull', 'least-requests', 'least-tokens'] as const;
const PREFIX_PLACEMENTS = ['prefix-aware', 'session-sticky'] as const;
/** The policies of placement that a plan tries. */
export const PLACEMENT_NAMES: readonly string[] = [...PLACEMENTS, ...PREFIX_PLACEMENTS];
/** Token budgets to try first with engines that do both, and with prefill engines. */
const FIRST_BUDGETS = { aggregated: [1_024, 2_048, 4_096], prefill: [2_048] } as const;

/** A design, such as a split or a fleet, seen as engines with settings. */
export interface TunedDesign<D> {
  readonly settingsOf: (design: D) => Settings;
  readonly withSettings: (design: D, settings: Settings) => D;
  readonly topologyOf: (design: D) => Topology;
  /** The engines without the settings. */
  readonly enginesOf: (design: D) => Engines;
  /** The options of the configuration that make the design, settings included. */
  readonly clusterOf: (design: D) => Settings;
}

export interface KnobQuestion<D> {
  readonly config: BatonConfig;
  /** Whether the user set the option; such an option keeps its value. */
  readonly isSet: (key: ConfigKey) => boolean;
  /** Share of prompt tokens that a cache could reuse, 0..1. */
  readonly reusableShare: number;
  /** Options that the user asks to try as well, with their values. */
  readonly vary: readonly Knob[];
  readonly design: TunedDesign<D>;
}

/** The knobs of all designs, and the neighbours of a design in the space that they span. */
export class Knobs<D> {
  private readonly buildable = new Map<string, boolean>();

  constructor(private readonly question: KnobQuestion<D>) {}

  /** The designs that differ from this one in one knob. */
  movesOf(design: D): D[] {
    const moves = this.knobsOf(design).flatMap(({ key, values }) => {
      return values.flatMap((value) => this.moved(design, key, value));
    });
    return moves.filter((move) => this.isBuildable(move));
  }

  /**
   * The first settings to try with a design, besides those of the configuration: the token budget
   * decides most about engines that compute prompts.
   */
  firstSettings(design: D): D[] {
    const isWhole = this.question.design.topologyOf(design).prefill === 0;
    const key = isWhole ? 'maxNumBatchedTokens' : 'prefillMaxNumBatchedTokens';
    if (!this.knobsOf(design).some((knob) => knob.key === key)) return [];
    const values: readonly number[] = FIRST_BUDGETS[isWhole ? 'aggregated' : 'prefill'];
    const all = values.flatMap((value) => this.moved(design, key, value));
    return all.filter((one) => this.isBuildable(one));
  }

  /** The design with these settings alone, as far as it has them and engines can be built so. */
  withSettings(design: D, settings: Settings): D {
    const keys = this.knobsOf(design).filter(({ key }) => key in settings);
    return keys.reduce(
      (one, { key }) => {
        const [moved = one] = this.moved(one, key, settings[key]);
        return this.isBuildable(moved) ? moved : one;
      },
      this.question.design.withSettings(design, {}),
    );
  }

  /** The knobs of a design: those of its roles, and those of the cluster. */
  private knobsOf(design: D): Knob[] {
    const { config, isSet, reusableShare, vary } = this.question;
    const { prefill, aggregated } = this.question.design.topologyOf(design);
    const budgets = config.enableChunkedPrefill ? TOKEN_BUDGETS : [];
    const chunks = config.enableChunkedPrefill ? PROMPT_CHUNKS : [];
    const isShared = reusableShare > 0;
    const placements = [...PLACEMENTS, ...(isShared ? PREFIX_PLACEMENTS : [])];
    const knobs: Knob[] = [
      ...(prefill > 0
        ? [
            { key: 'prefillMaxNumBatchedTokens' as const, values: budgets },
            { key: 'prefillMaxNumSeqs' as const, values: BATCH_SIZES },
            { key: 'decodeMaxNumSeqs' as const, values: BATCH_SIZES },
          ]
        : []),
      ...(aggregated > 0
        ? [
            { key: 'maxNumBatchedTokens' as const, values: budgets },
            { key: 'maxNumSeqs' as const, values: BATCH_SIZES },
          ]
        : []),
      { key: 'longPrefillTokenThreshold', values: chunks },
      { key: 'placement', values: Math.max(prefill, aggregated) > 1 ? placements : [] },
      { key: 'enablePrefixCaching', values: isShared ? [true, false] : [] },
    ];
    return [...knobs.filter(({ key }) => !isSet(key) && !isSet(baseOf(key))), ...vary];
  }

  /** The value of a knob for a design: its own, or that of its engines or the configuration. */
  private valueOf(design: D, key: ConfigKey): unknown {
    const own = this.question.design.settingsOf(design)[key];
    if (own !== undefined) return own;
    const limits = this.question.design.enginesOf(design);
    if (baseOf(key) === 'maxNumBatchedTokens') return limits(roleOf(key)).maxNumBatchedTokens;
    if (baseOf(key) === 'maxNumSeqs') return limits(roleOf(key)).maxNumSeqs;
    return this.question.config[key];
  }

  /**
   * A step takes at least one token of each sequence, so vLLM refuses a token budget below the
   * number of sequences: a smaller budget takes the number of sequences with it.
   */
  private moved(design: D, key: ConfigKey, value: unknown): D[] {
    if (this.valueOf(design, key) === value) return [];
    const changed = this.withSetting(design, key, value);
    if (baseOf(key) !== 'maxNumBatchedTokens') return [changed];
    const seqsKey = key.replace(/axNumBatchedTokens$/, 'axNumSeqs') as ConfigKey;
    const seqs = this.valueOf(changed, seqsKey) as number;
    if (seqs <= (value as number)) return [changed];
    return this.question.isSet(seqsKey) ? [] : [this.withSetting(changed, seqsKey, value)];
  }

  /** Settings keep the order of the knobs, so that equal designs have equal names. */
  private withSetting(design: D, key: ConfigKey, value: unknown): D {
    const { settingsOf, withSettings } = this.question.design;
    const { [key]: _old, ...others } = settingsOf(design);
    const bare = withSettings(design, others);
    if (this.valueOf(bare, key) === value) return bare;
    const settings: Record<string, unknown> = { ...others, [key]: value };
    const first = this.knobsOf(design).map((knob) => knob.key as string);
    const keys = [...new Set([...Object.keys(others).filter(isForeign), ...first])];
    const ordered = keys.flatMap((each) => (each in settings ? [[each, settings[each]]] : []));
    return withSettings(design, Object.fromEntries(ordered) as Settings);

    function isForeign(name: string): boolean {
      return !first.includes(name);
    }
  }

  private isBuildable(design: D): boolean {
    const cluster = this.question.design.clusterOf(design);
    const { prefill, decode, aggregated } = this.question.design.topologyOf(design);
    const roles = Object.entries({ prefill, decode, aggregated }).filter(([, count]) => count > 0);
    const { topology: _counts, ...own } = cluster;
    const key = JSON.stringify([roles.map(([role]) => role), own]);
    const known = this.buildable.get(key);
    if (known !== undefined) return known;
    const config = { ...this.question.config, ...cluster };
    const can = roles.every(([role]) => canBuild(config, role as EngineRole));
    this.buildable.set(key, can);
    return can;
  }
}

function canBuild(config: BatonConfig, role: EngineRole): boolean {
  try {
    poolOf(config, role, 1);
    return true;
  } catch (error) {
    if (error instanceof UsageError) return false;
    throw error;
  }
}

/** `maxNumSeqs` for `prefillMaxNumSeqs`. */
function baseOf(key: ConfigKey): ConfigKey {
  const base = key.replace(/^(prefill|decode)(?=Max)/, '');
  return (base.charAt(0).toLowerCase() + base.slice(1)) as ConfigKey;
}

/** The role whose limits a knob sets. */
function roleOf(key: ConfigKey): EngineRole {
  if (key.startsWith('prefill')) return 'prefill';
  return key.startsWith('decode') ? 'decode' : 'aggregated';
}
