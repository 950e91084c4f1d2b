import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runsOf } from '../../../../../test/support/runs';
import { formatTopology, parseTopology, TopologyError } from './topology';

describe('parseTopology', () => {
  it.each([
    ['2P3D', { prefill: 2, decode: 3, aggregated: 0 }],
    ['4A', { prefill: 0, decode: 0, aggregated: 4 }],
    ['2p3d1a', { prefill: 2, decode: 3, aggregated: 1 }],
    [' 1A3D2P ', { prefill: 2, decode: 3, aggregated: 1 }],
    ['02P10D', { prefill: 2, decode: 10, aggregated: 0 }],
  ])('reads %j', (text, topology) => {
    expect(parseTopology(text)).toEqual(topology);
  });

  it.each([
    ['', 'not understood'],
    ['2P 3D', 'not understood'],
    ['PD', 'not understood'],
    ['-1P1D', 'not understood'],
    ['1.5P1D', 'not understood'],
    ['2X', 'not understood'],
    ['2P3D2P', 'names P twice'],
    ['0P2D', 'leave P out'],
    ['2P0D', 'leave D out'],
    ['2P', 'no decode engines: add some (2P1D), or use aggregated ones (2A)'],
    ['3D1A', 'no prefill engines: add some (1P3D)'],
    ['4000P1000D', 'more than 4096 engines'],
    ['9'.repeat(400) + 'P', 'more than 4096 engines'],
  ])('refuses %j in one line that says what to do', (text, hint) => {
    expect(() => parseTopology(text)).toThrow(TopologyError);
    expect(() => parseTopology(text)).toThrow(hint);
  });

  it('never answers with more than one short line', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        try {
          parseTopology(text);
        } catch (error) {
          expect(error).toBeInstanceOf(TopologyError);
          const { message } = error as TopologyError;
          expect(message).not.toMatch(/[\r\n]/);
          expect(message.length).toBeLessThan(200);
        }
      }),
      { numRuns: runsOf(1_000) },
    );
  });

  it('reads back what formatTopology writes', () => {
    const count = fc.integer({ min: 1, max: 300 });
    const topology = fc
      .tuple(fc.option(fc.tuple(count, count)), fc.option(count))
      .filter(([split, aggregated]) => split !== null || aggregated !== null)
      .map(([split, aggregated]) => ({
        prefill: split?.[0] ?? 0,
        decode: split?.[1] ?? 0,
        aggregated: aggregated ?? 0,
      }));
    fc.assert(
      fc.property(topology, (given) => {
        expect(parseTopology(formatTopology(given))).toEqual(given);
      }),
    );
  });
});
