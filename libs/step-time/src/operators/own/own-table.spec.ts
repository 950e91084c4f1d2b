import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runsOf } from '../../../../../test/support/runs';
import { heldOutErrors } from './held-out';
import { mergedTable } from './merged-table';
import { isProblem, type OwnTable, readOwnTable } from './own-table';
import { layoutOf } from './table-layout';

const GEMM = layoutOf('gemm.bf16')!;
const HEADER = 'n,k,m,us';
const tableOf = (...rows: string[]): OwnTable => {
  const read = readOwnTable([HEADER, ...rows].join('\n'), GEMM);
  if (isProblem(read)) throw new Error(read.complaint);
  return read;
};

describe('a table of the user', () => {
  it('has one of the names of composed steps', () => {
    for (const name of ['gemm.bf16', 'moe.fp8_block', 'context_attention.bf16_kvfp8', 'nccl.half'])
      expect(layoutOf(name)).toBeDefined();
    for (const name of ['gemm', 'gemm.bf15', 'toString.x', 'wideep_moe.trtllm_fp8'])
      expect(layoutOf(name)).toBeUndefined();
  });

  it('keeps all measurements of one place, in any notation of its numbers', () => {
    const table = tableOf('64,32,016,5', ' 64 ,32,16.0,7\r', '', '64,32,32,9');
    expect([...table].map(([key, { us }]) => [key, us])).toEqual([
      ['64,32,16', [5, 7]],
      ['64,32,32', [9]],
    ]);
  });

  it.each([
    ['n,k,m,ms\n1,1,1,1', 1, 'the columns must be n,k,m,us (us: microseconds of one call), not'],
    ['n,k,m,us', 1, 'the table has no rows'],
    ['n,k,m,us\n1,1,1', 2, 'there must be 4 fields, not 3'],
    ['n,k,m,us\n1,1,1,2\n\n1,0,1,2', 4, "k must be a whole number from 1, not '0'"],
    ['n,k,m,us\n1,1,1.5,2', 2, "m must be a whole number from 1, not '1.5'"],
    ['n,k,m,us\n1,1,,2', 2, "m must be a whole number from 1, not ''"],
    ['n,k,m,us\n1,1,1,-2', 2, 'us must be a time above 0 and up to 100000000 microseconds, not'],
    ['n,k,m,us\n1,1,1,fast', 2, "not 'fast'"],
  ])('%j is refused with line and reason', (csv, line, complaint) => {
    const read = readOwnTable(csv, GEMM);
    expect(read).toMatchObject({ line });
    expect((read as { complaint: string }).complaint).toContain(complaint);
  });

  it('checks columns of names, and takes a window of 0', () => {
    const moe = layoutOf('moe.fp8')!;
    const row = 'even,8,64,128,128,1,1,16,5';
    expect(readOwnTable(`${moe.columns.join(',')},us\n${row}`, moe)).toMatchObject({ line: 2 });
    const attention = layoutOf('generation_attention.kvbf16')!;
    const read = readOwnTable(`${attention.columns.join(',')},us\n128,0,8,32,1,2,5`, attention);
    expect(isProblem(read)).toBe(false);
  });
});

describe('own points over shipped ones', () => {
  const SHIPPED = `${HEADER}\n64,32,1,10\n64,32,16,20\n64,32,256,40\n128,32,16,30\n`;

  it('replace the shipped ones between the first and the last on a curve', () => {
    const own = tableOf('64,32,32,26', '64,32,8,14', '64,32,8,16', '96,32,4,5');
    expect(mergedTable(own, SHIPPED, HEADER).trim().split('\n')).toEqual([
      HEADER,
      ...['64,32,1,10', '64,32,8,15', '64,32,32,26', '64,32,256,40', '96,32,4,5', '128,32,16,30'],
    ]);
  });

  it('keep every own point and stay sorted, for any measurements', () => {
    const point = fc.tuple(
      fc.constantFrom(64, 96, 1024),
      fc.integer({ min: 1, max: 300 }),
      fc.integer({ min: 1, max: 1000 }),
    );
    fc.assert(
      fc.property(fc.array(point, { minLength: 1, maxLength: 30 }), (points) => {
        const own = tableOf(...points.map(([n, m, us]) => `${n},32,${m},${us}`));
        const rows = mergedTable(own, SHIPPED, HEADER).trim().split('\n').slice(1);
        const places = rows.map((row) => row.split(',').slice(0, 3).map(Number));
        expect(places).toEqual([...places].sort((a, b) => a[0]! - b[0]! || a[2]! - b[2]!));
        const keys = new Set(places.map(String));
        expect(keys.size).toBe(rows.length);
        for (const key of own.keys()) expect(keys).toContain(key);
      }),
      { numRuns: runsOf(100) },
    );
  });
});

describe('the error on points that are left out', () => {
  const SYSTEMS = JSON.stringify({
    mine: {
      gpu: { mem_bw: 1e15, bfloat16_tc_flops: 1e18, sm_version: 90 },
      node: { intra_node_bw: 1e11, inter_node_bw: 1e10 },
      misc: { nccl_mem: {} },
    },
  });
  const shipped = { read: (path: string) => (path === 'systems.json' ? SYSTEMS : undefined) };
  const errorsOf = (us: (m: number) => number, every: number) => {
    const rows = [1, 2, 4, 8, 16, 32, 64].map((m) => `64,32,${m},${us(m)}`);
    const table = tableOf(...rows);
    return heldOutErrors(
      { system: 'mine', name: 'gemm.bf16', layout: GEMM, table },
      every,
      shipped,
    );
  };

  it('is that of a straight line between the others', () => {
    const straight = errorsOf((m) => 5 + m, 3);
    expect(straight).toMatchObject({ points: 7, heldOut: 2 });
    expect(straight.meanPercent).toBeCloseTo(0, 9);
    const bent = errorsOf((m) => (m === 4 ? 10 : 5 + m), 3);
    // Between 2 (7 µs) and 8 (13 µs) the line has 9 µs at 4, where 10 were measured.
    expect(bent.largestPercent).toBeCloseTo(-10, 9);
    expect(bent.meanPercent).toBeCloseTo(5, 9);
  });

  it('is undefined where no point is left out', () => {
    expect(errorsOf((m) => 5 + m, 0)).toMatchObject({ heldOut: 0, meanPercent: undefined });
  });
});
