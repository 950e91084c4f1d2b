import { describe, expect, it } from 'vitest';
import { sourcePortsOf } from './kv-ports';

/** 8 KV heads of 100 bytes, each rank with its own. */
const grouped = (ports: number) => ({ ports, bytesPerToken: 800 / ports });
/** Each rank has the whole vector. */
const latent = (ports: number) => ({ ports, bytesPerToken: 500 });

describe('the source ports of one target port', () => {
  it('are one between engines of equal ranks', () => {
    for (const ports of [1, 3, 4, 8]) {
      expect(sourcePortsOf(grouped(ports), grouped(ports))).toBe(1);
      expect(sourcePortsOf(latent(ports), latent(ports))).toBe(1);
    }
  });

  it('are a part of one when several target ranks read from one source rank', () => {
    expect(sourcePortsOf(grouped(1), grouped(4))).toBe(1 / 4);
    expect(sourcePortsOf(grouped(2), grouped(4))).toBe(1 / 2);
    expect(sourcePortsOf(latent(1), latent(4))).toBe(1 / 4);
  });

  it('are several when a target rank reads heads from several source ranks', () => {
    expect(sourcePortsOf(grouped(4), grouped(1))).toBe(4);
    expect(sourcePortsOf(grouped(8), grouped(4))).toBe(2);
  });

  it('are one when a source rank has all that a target rank reads', () => {
    expect(sourcePortsOf(latent(4), latent(1))).toBe(1);
    // 8 heads on 16 ranks: two ranks have the same head.
    const replicated = { ports: 16, bytesPerToken: 100 };
    expect(sourcePortsOf(replicated, grouped(8))).toBe(1);
  });
});
