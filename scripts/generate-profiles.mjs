// Writes the calibrated profiles as a TypeScript module, so that pure libraries and the built tree
// carry them without reading files. Run after a change of data/profiles/unified_model.json: node
// scripts/generate-profiles.mjs
import { readFileSync, writeFileSync } from 'node:fs';
import { URL } from 'node:url';
import { format, resolveConfig } from 'prettier';

const root = new URL('../', import.meta.url);
const source = new URL('data/profiles/unified_model.json', root);
const target = new URL('libs/step-time/src/profiles/calibrated-profiles.ts', root);

const entries = JSON.parse(readFileSync(source, 'utf8'));
const tokens = entries[0].linear_ms.map(([x]) => x);

function profileOf(entry) {
  const own = entry.linear_ms.map(([x]) => x);
  if (own.join() !== tokens.join())
    throw new Error(`other token points: ${entry.gpu} ${entry.model}`);
  return {
    gpu: entry.gpu,
    model: entry.model,
    tp: entry.tp,
    linearMs: entry.linear_ms.map(([, ms]) => ms),
    decodeAttentionMs: entry.decode_attn_ms_g0_g1B_g2S,
    prefillAttentionMs: entry.prefill_attn_ms_h0_h1Q,
    decodeErrorPercent: { mean: entry.decode_mape_pct, max: entry.decode_max_pct },
    prefillErrorPercent: { mean: entry.prefill_mape_pct, max: entry.prefill_max_pct },
  };
}

const text = `// Written by scripts/generate-profiles.mjs from data/profiles/unified_model.json. Source and licence:
// data/README.md.
import type { CalibratedProfile } from './calibrated-profile';

/** Points of \`linearMs\`: tokens of one step. */
export const LINEAR_TOKENS: readonly number[] = ${JSON.stringify(tokens)};

export const CALIBRATED_PROFILES: readonly CalibratedProfile[] = ${JSON.stringify(entries.map(profileOf))};
`;

const path = target.pathname;
const options = await resolveConfig(path);
writeFileSync(target, await format(text, { ...options, filepath: path }));
