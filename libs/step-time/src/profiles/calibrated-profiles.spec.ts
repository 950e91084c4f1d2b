import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { CALIBRATED_PROFILES, LINEAR_TOKENS } from './calibrated-profiles';

const source = new URL('../../../../data/profiles/unified_model.json', import.meta.url);

it('the shipped profiles equal data/profiles (else run scripts/generate-profiles.mjs)', () => {
  const rebuilt = CALIBRATED_PROFILES.map((profile) => ({
    gpu: profile.gpu,
    model: profile.model,
    tp: profile.tp,
    linear_ms: profile.linearMs.map((ms, i) => [LINEAR_TOKENS[i], ms]),
    decode_attn_ms_g0_g1B_g2S: profile.decodeAttentionMs,
    prefill_attn_ms_h0_h1Q: profile.prefillAttentionMs,
    decode_mape_pct: profile.decodeErrorPercent.mean,
    decode_max_pct: profile.decodeErrorPercent.max,
    prefill_mape_pct: profile.prefillErrorPercent.mean,
    prefill_max_pct: profile.prefillErrorPercent.max,
  }));
  const published = (JSON.parse(readFileSync(source, 'utf8')) as Record<string, unknown>[]).map(
    ({ kv_bytes_per_token: _bytes, kv_capacity_tokens: _capacity, ...fitted }) => fitted,
  );
  expect(rebuilt).toEqual(published);
});
