import { BatonError } from '../baton-error';
import { describe, expect, it } from 'vitest';
import { FaultBook, type FaultSettings, isDue } from './fault-book';
import { FAILURE_TYPES, llmDFailure } from './llm-d-failures';
import { readRules } from './read-rules';

const SINCE_US = 1_000_000_000;

function settings(rules: unknown[], more: Partial<FaultSettings> = {}): FaultSettings {
  const read = readRules(rules);
  if (read.kind === 'problem') throw new TypeError(read.problem.complaint);
  const llmD = { failureInjectionRate: 0, failureTypes: [] };
  return { rules: read.rules, ...llmD, sinceUs: SINCE_US, ...more };
}

function bookOf(rules: unknown[], more: Partial<FaultSettings> = {}, speedup = 1): FaultBook {
  const book = new FaultBook({ seed: 7, speedup });
  book.replace(settings(rules, more));
  return book;
}

interface Asking {
  readonly headers?: Readonly<Record<string, string>>;
  readonly model?: string;
  readonly atUs?: number;
}

function ask(book: FaultBook, { headers = {}, model = 'm', atUs = 0 }: Asking = {}): string[] {
  const header = (name: string): string | undefined => headers[name];
  return book.judge({ model, header, nowUs: SINCE_US + atUs }).map(({ rule }) => rule);
}

function hits(book: FaultBook, count: number): number[] {
  return Array.from({ length: count }, (_none, i) => i).filter(() => ask(book).length > 0);
}

const CUT = { at: 'queue', fault: 'cut' };

describe('FaultBook', () => {
  it('hits every n-th request, up to the limit', () => {
    expect(hits(bookOf([{ ...CUT, every: 3 }]), 10)).toEqual([2, 5, 8]);
    expect(hits(bookOf([{ ...CUT, every: 3, limit: 2 }]), 100)).toEqual([2, 5]);
  });

  it('hits the share of requests given by rate, and the same ones for the same seed', () => {
    const rules = [{ ...CUT, rate: 0.2 }];
    const found = hits(bookOf(rules), 5_000);
    expect(found.length / 5_000).toBeCloseTo(0.2, 1);
    expect(hits(bookOf(rules), 5_000)).toEqual(found);
    const other = new FaultBook({ seed: 8, speedup: 1 });
    other.replace(settings(rules));
    expect(hits(other, 5_000)).not.toEqual(found);
  });

  it('draws for each rule independently of the others', () => {
    const alone = bookOf([{ ...CUT, name: 'a', rate: 0.5 }]);
    const beside = bookOf([
      { ...CUT, name: 'b', rate: 0.5 },
      { ...CUT, name: 'a', rate: 0.5 },
    ]);
    for (let i = 0; i < 200; i += 1) {
      expect(ask(beside).includes('a')).toBe(ask(alone).includes('a'));
    }
  });

  it('matches the model and headers, with a value or without', () => {
    const book = bookOf([
      { ...CUT, name: 'model', model: 'big' },
      { ...CUT, name: 'there', header: 'X-Fault' },
      { ...CUT, name: 'value', header: 'X-Fault: Cut' },
    ]);
    expect(ask(book)).toEqual([]);
    expect(ask(book, { model: 'big' })).toEqual(['model']);
    expect(ask(book, { headers: { 'x-fault': 'stall' } })).toEqual(['there']);
    expect(ask(book, { headers: { 'x-fault': ' Cut ' } })).toEqual(['there', 'value']);
  });

  it('counts only the requests that meet the other conditions', () => {
    const book = bookOf([{ ...CUT, model: 'big', every: 2 }]);
    const models = ['big', 'small', 'big', 'small', 'small', 'big', 'big'];
    expect(models.map((model) => ask(book, { model }).length)).toEqual([0, 0, 1, 0, 0, 0, 1]);
  });

  it('opens and closes windows on simulated time', () => {
    const book = bookOf([{ ...CUT, after: 10, for: 20 }], {}, 10);
    const at = (seconds: number): number => ask(book, { atUs: seconds * 1e6 }).length;
    expect([0, 0.999_999, 1, 2.999_999, 3, 100].map(at)).toEqual([0, 0, 1, 1, 0, 0]);
  });

  it('adds the window to a fault of a later stage', () => {
    const book = bookOf([{ at: 'transfer', fault: 'expire-lease', after: 10, for: 20 }]);
    const [fault] = book.judge({ model: 'm', header: () => undefined, nowUs: SINCE_US });
    const due = (seconds: number): boolean =>
      fault !== undefined && isDue(fault, SINCE_US + seconds * 1e6);
    expect([9, 10, 29, 30].map(due)).toEqual([false, true, true, false]);
    expect(ask(book, { atUs: 30e6 })).toEqual([]);
  });

  it('continues counting for an unchanged rule, and restarts for a changed one', () => {
    const book = bookOf([{ ...CUT, every: 3 }]);
    ask(book);
    ask(book);
    book.replace(settings([{ ...CUT, every: 3 }]));
    expect(ask(book)).toEqual(['fault-1']);
    book.replace(settings([{ ...CUT, every: 2 }]));
    expect([ask(book).length, ask(book).length]).toEqual([0, 1]);
  });

  it('injects llm-d failures by percent, with the configured types', () => {
    expect(hits(bookOf([], { failureInjectionRate: 100 }), 50)).toHaveLength(50);
    const share = hits(bookOf([], { failureInjectionRate: 30 }), 5_000).length / 5_000;
    expect(share).toBeCloseTo(0.3, 1);
    const asked = { model: 'm', header: () => undefined, nowUs: 0 };
    const statuses = (types: FaultSettings['failureTypes']): number[] => {
      const book = bookOf([], { failureInjectionRate: 100, failureTypes: types });
      const seen = Array.from({ length: 300 }, () => book.judge(asked)[0]?.action);
      return [
        ...new Set(seen.map((action) => (action?.kind === 'error' ? action.status : 0))),
      ].sort();
    };
    expect(statuses(['rate_limit', 'model_not_found'])).toEqual([404, 429]);
    expect(statuses([])).toEqual([400, 401, 404, 429, 503]);
    expect(FAILURE_TYPES.map((type) => llmDFailure(type, 'm').status)).toEqual([
      429, 401, 400, 503, 400, 404,
    ]);
  });

  it('applies X-Return-Error before any rule and any draw', () => {
    const book = bookOf([CUT], { failureInjectionRate: 100 });
    const judge = (value: string): unknown =>
      book.judge({
        model: 'm',
        header: (name) => (name === 'x-return-error' ? value : undefined),
        nowUs: 0,
      });
    expect(judge('418')).toEqual([
      {
        rule: 'x-return-error',
        stage: 'queue',
        action: { kind: 'error', status: 418, afterTokens: 0 },
      },
    ]);
    for (const value of ['200', '399', '600', 'teapot', '4e2', '']) {
      expect(() => judge(value), value).toThrow(BatonError);
    }
  });
});
