import { describe, expect, it } from 'vitest';
import { type CommandAnswer, runCommand } from '../../../test/test-command';
import { type AskedKind, askProgram } from './ask-program';
import type { Conversation } from './conversation';

const WORKLOAD = { dataset: 'shared-prefix', numPrompts: '60', requestRate: '40' };
const SPLIT = { ...WORKLOAD, topology: '3P1D', decodePlacement: 'pull', slo: 'ttft=200ms' };
const SCALED = { ...WORKLOAD, max: '3P3D', scaleInterval: '0.2', slo: 'ttft=200ms' };

type Message = Record<string, unknown>;
type Answers = (question: Message) => unknown;

/** A program that begins with each of the seeds and answers every question. */
class Program implements Conversation {
  readonly received: Message[] = [];

  constructor(
    private readonly seeds: number[],
    private readonly answers: Answers,
  ) {}

  /** Results of the episodes that were played to their end. */
  get results(): Message[] {
    return this.received.flatMap(({ done }) => (done === undefined ? [] : [done as Message]));
  }

  get questions(): Message[] {
    return this.received.filter(({ ready, done }) => (ready ?? done) === undefined);
  }

  send(message: unknown): void {
    this.received.push(JSON.parse(JSON.stringify(message)) as Message);
  }

  receive(): unknown {
    const last = this.received.at(-1)!;
    if (this.questions.at(-1) === last) return this.answers(last);
    const reset = this.seeds.shift();
    return reset === undefined ? undefined : { reset };
  }
}

async function asked(
  kind: AskedKind,
  given: Record<string, string>,
  { seeds = [0], answers }: { seeds?: number[]; answers: Answers },
): Promise<Program> {
  const program = new Program(seeds, answers);
  await askProgram(kind, given, program);
  return program;
}

/** The first of the engines with the fewest requests. */
function fewest({ engines }: Message): unknown {
  const loads = (engines as { requests: number }[]).map(({ requests }) => requests);
  return { action: loads.indexOf(Math.min(...loads)) };
}

async function replayed(...args: string[]): Promise<Message> {
  const workload = ['--dataset', 'shared-prefix', '--num-prompts', '60', '--request-rate', '40'];
  const answer: CommandAnswer = await runCommand(
    ...['replay', ...workload, '--slo', 'ttft=200ms', '--json', ...args],
  );
  return JSON.parse(answer.stdout) as Message;
}

describe('a program that places', () => {
  it('with the rule of a built-in policy gets the figures of that policy', async () => {
    const { results, questions } = await asked('placement', SPLIT, {
      seeds: [0, 7],
      answers: fewest,
    });
    expect(questions).toHaveLength(120);
    const flags = ['--topology', '3P1D', '--placement', 'least-requests'];
    for (const [at, seed] of ['0', '7'].entries()) {
      const expected = await replayed(...flags, '--decode-placement', 'pull', '--seed', seed);
      const { ttft_ms, tpot_ms, slo_attainment, events } = expected;
      expect(results[at]).toMatchObject({ ttft_ms, tpot_ms, slo_attainment, events });
    }
  });

  it('answers on decode engines by the rule of a built-in policy, with the same figures', async () => {
    const given = { ...WORKLOAD, topology: '1P3D', placement: 'least-requests', slo: 'ttft=200ms' };
    const { received, results } = await asked('decode-placement', given, { answers: fewest });
    expect(received[0]!['ready']).toMatchObject({ decides: 'decode-placement', engines: 3 });
    const { tpot_ms, engines } = await replayed(
      '--topology',
      '1P3D',
      '--placement',
      'least-requests',
    );
    expect(results[0]).toMatchObject({ tpot_ms, engines });
    const { action: first } = fewest(received[1]!) as { action: number };
    const { results: others } = await asked('decode-placement', given, {
      answers: () => ({ action: first }),
    });
    const finished = (others[0]!['engines'] as { role: string; finished: number }[])
      .filter(({ role }) => role === 'decode')
      .map((engine) => engine.finished);
    expect(finished.sort((a, b) => b - a)).toEqual([60, 0, 0]);
  });

  it('receives each ended request once, with its results', async () => {
    const { received, results } = await asked('placement', SPLIT, { answers: fewest });
    const ended = received.flatMap((message) => (message['ended'] ?? []) as Message[]);
    expect(ended).toHaveLength(60);
    const good = ended.filter((each) => each['good']).length;
    expect(good / 60).toBeCloseTo(results[0]!['slo_attainment'] as number, 6);
    const mean = ended.reduce((sum, each) => sum + (each['ttft_ms'] as number), 0) / 60;
    expect(mean).toBeCloseTo((results[0]!['ttft_ms'] as { mean: number }).mean, 3);
  });

  it('may restart before the end, and gets equal questions for equal seeds', async () => {
    let count = 0;
    const { results, questions } = await asked('placement', SPLIT, {
      answers: (question) => ((count += 1) === 20 ? { reset: 0 } : fewest(question)),
    });
    expect(results).toHaveLength(1);
    expect(questions.slice(20, 40)).toEqual(questions.slice(0, 20));
  });

  it.each([
    [{ action: 3 }, /^the program: choose \(prefill\) returned 3; expected an integer from 0 to 2/],
    [{ engine: 1 }, /A line on stdin must be {"action": …}/],
  ])('ends with one sentence on %j', async (answer, sentence) => {
    await expect(asked('placement', SPLIT, { answers: () => answer })).rejects.toThrow(sentence);
  });

  it.each([
    [{ ...SPLIT, placement: 'random' }, 'The program decides the placement. Remove --placement.'],
    [{ ...SPLIT, topology: '1P1D1A' }, 'needs a topology xPyD or xA; 1P1D1A is not.'],
    [{ ...SPLIT, autoscaler: 'wva', max: '4P4D' }, 'needs a fixed topology'],
  ])('is refused for a cluster in which it cannot place', async (given, sentence) => {
    await expect(asked('placement', given, { answers: fewest })).rejects.toThrow(sentence);
  });

  it.each([
    [SPLIT, 'The program decides the decode-placement. Remove --decode-placement.'],
    [{ ...WORKLOAD, topology: '3A' }, 'needs a topology xPyD; 3A is not.'],
  ])(
    'is refused for a cluster without decode engines, or with a policy for them',
    async (given, sentence) => {
      await expect(asked('decode-placement', given, { answers: fewest })).rejects.toThrow(sentence);
    },
  );
});

describe('a program that scales', () => {
  it('gets one question per interval, and the requested engines', async () => {
    const wanted = { prefill: 2, decode: 3 };
    const { received, questions, results } = await asked('scaling', SCALED, {
      answers: () => ({ action: wanted }),
    });
    expect(received[0]!['ready']).toMatchObject({
      interval_s: 0.2,
      max: { prefill: 3, decode: 3 },
    });
    const gaps = questions.map(({ now_s }, i) => (now_s as number) - 0.2 * i);
    for (const gap of gaps) expect(gap).toBeCloseTo(gaps[0]!, 6);
    const engines = questions.map(({ roles }) =>
      (roles as { engines: number }[]).map((role) => role.engines),
    );
    expect(engines[0]).toEqual([1, 1]);
    expect(engines.slice(1)).toEqual(questions.slice(1).map(() => [2, 3]));
    expect(results[0]).toMatchObject({ completed: 60 });
  });
});
