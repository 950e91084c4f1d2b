import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiFixture, eventsOf, readStream, type ReadStream } from '../../test/api-fixture';
import type { FakeRun } from '../../test/fake-engine';
import { until } from '../../test/until';
import type { Transport } from '@baton/transport';
import { Broker } from '../tokens';
import { Recovery } from './recovery';
import { SequenceTable } from '../sequences/sequence-table';

const BODY = { prompt: 'the baton', max_tokens: 8, ignore_eos: true, stream: true };

describe('tokens on their way from an engine to a client', () => {
  let fixture: ApiFixture;
  let whole: string;

  beforeEach(async () => {
    fixture = await ApiFixture.start();
    const [answer, run] = await begin({ ...BODY, stream: false });
    await run.play();
    whole =
      ((await (await answer).json()) as { choices: { text: string }[] }).choices[0]?.text ?? '';
  });

  afterEach(() => fixture.stop());

  async function begin(body: object = BODY): Promise<[Promise<Response>, FakeRun]> {
    const answer = fixture.post('/v1/completions', body);
    return [answer, await fixture.engine.next()];
  }

  it('sends headers at admission and each token when its frame comes', async () => {
    const [answer, run] = await begin();
    const events = eventsOf(await answer);
    for (const index of [0, 1, 2]) {
      run.token(index);
      const event = JSON.parse((await events.next()).value as string) as { choices: object[] };
      expect(event.choices).toHaveLength(1);
    }
    run.send({ first: 3, count: 4 });
    run.endSequence();
    let last = '';
    for await (const event of events) last = event;
    expect(last).toBe('[DONE]');
  });

  it('asks the engine for missing tokens and shows nothing beyond them', async () => {
    const [answer, run] = await begin();
    const stream = readStream(await answer);
    run.token(0);
    run.token(3);
    const messages = fixture.engine.messages;
    await until(() => messages.length > 0);
    expect(messages[0]).toMatchObject({
      kind: 'resend',
      requestId: run.job.requestId,
      streamId: run.job.streamId,
      fromIndex: 1,
    });
    run.send({ first: 1, count: 6 });
    run.endSequence();
    expect((await stream).text).toBe(whole);
  });

  it('ends with the record of the ledger when the engine never answers', async () => {
    const [answer, run] = await begin();
    const stream = readStream(await answer);
    run.token(0);
    await run.finishJob();
    const { text, finishReason } = await stream;
    expect(text).toBe(whole);
    expect(finishReason).toBe('length');
  });

  it('ends with the catalogue code of an engine that failed, in the stream and with [DONE]', async () => {
    const [answer, run] = await begin();
    const stream = readStream(await answer);
    run.token(0);
    run.endSequence({ reason: 'error', tail: JSON.stringify('attempts_exhausted') });
    const { error, events } = await stream;
    expect(error?.message).toContain('workers were lost');
    expect(events.at(-1)).toBe('[DONE]');
  });

  it('ends with an HTTP status when no byte of a whole answer is out', async () => {
    const [answer, run] = await begin({ ...BODY, stream: false });
    run.endSequence({ reason: 'error', tail: JSON.stringify('worker_lost') });
    expect((await answer).status).toBe(500);
  });

  it('continues with the tokens of a later run without showing one twice', async () => {
    const [answer, run] = await begin();
    const stream = readStream(await answer);
    for (const index of [0, 1, 2]) run.token(index);
    const epoch = run.epoch + 1;
    for (let index = 0; index < 7; index += 1) run.send({ first: index, count: 1, epoch });
    run.token(5);
    run.endSequence({ epoch });
    expect((await stream).text).toBe(whole);
  });

  it('resubmits a job that the broker lost, and ignores older runs', async () => {
    const [answer, first] = await begin();
    const stream = readStream(await answer);
    first.token(0);
    fixture.hub.goAway();
    fixture.hub.comeBack({ withoutData: true });
    const second = await fixture.engine.next();
    expect(second.job.requestId).toBe(first.job.requestId);
    expect(second.job.submission).toBe(first.job.submission + 1);
    first.token(1);
    await second.play();
    expect((await stream).text).toBe(whole);
  });

  it('stores again what an upstream server is to be sent when the broker has lost it', async () => {
    await fixture.stop();
    const config = { executor: 'vllm', aggregatedUrl: ['http://127.0.0.1:1'] } as const;
    fixture = await ApiFixture.start({ config });
    const [answer, first] = await begin();
    const { requestId } = first.job;
    const stored = fixture.hub.prompts.get(requestId);
    fixture.hub.goAway();
    fixture.hub.comeBack({ withoutData: true });
    const second = await fixture.engine.next();
    expect(stored?.toString()).toContain(BODY.prompt);
    expect(fixture.hub.prompts.get(requestId)).toEqual(stored);
    await second.play();
    await (await answer).text();
  });

  it('resubmits a job that a living engine has lost', async () => {
    const [answer, first] = await begin();
    const stream = readStream(await answer);
    first.token(0);
    const recovery = fixture.api.app.get(Recovery);
    const nowMs = performance.now();
    for (let looks = 1; looks <= 5; looks += 1) await recovery.sweep(nowMs + looks * 3_000);
    const second = await fixture.engine.next();
    expect(second.job.submission).toBe(first.job.submission + 1);
    await second.play();
    expect((await stream).text).toBe(whole);
  });

  // The broker goes away in the middle of a submission, or before its record is written.
  it.each([
    ['a record that waits for a run, and no job', true, 5],
    ['the record of an older run alone', false, 5],
    ['a record that waits for a run, and no job', true, 20],
  ])('submits again what has %s (%s) after %i s', async (_name, isRecorded, requestLostAfter) => {
    await fixture.stop();
    fixture = await ApiFixture.start({ config: { requestLostAfter } });
    const [answer, first] = await begin();
    const stream = readStream(await answer);
    first.token(0);
    const sequence = [...fixture.api.app.get(SequenceTable)][0]!;
    const submission = sequence.resubmitted(performance.now());
    const { ledger } = fixture.api.app.get<Transport>(Broker);
    if (isRecorded) await ledger.resubmit({ ...sequence.job, submission });
    const recovery = fixture.api.app.get(Recovery);
    await recovery.sweep(performance.now() + (requestLostAfter - 2) * 1_000);
    expect(fixture.engine.runs).toHaveLength(1);
    await recovery.sweep(performance.now() + (requestLostAfter + 1) * 1_000);
    const second = await fixture.engine.next();
    expect(second.job.submission).toBe(submission + 1);
    await second.play();
    expect((await stream).text).toBe(whole);
  });

  it('does not touch a request whose engine reports no news', async () => {
    const [answer, run] = await begin();
    const stream = readStream(await answer);
    run.token(0);
    const recovery = fixture.api.app.get(Recovery);
    const [sequence] = fixture.api.app.get(SequenceTable);
    const { messages } = fixture.engine;
    const nowMs = performance.now();
    for (let looks = 1; looks <= 8; looks += 1) {
      await recovery.sweep(nowMs + looks * 3_000);
      await until(() => messages.length >= looks);
      run.send({ first: 1, count: 0 });
      await until(() => sequence?.unanswered === 0);
    }
    await run.play();
    expect((await stream).text).toBe(whole);
    expect(fixture.engine.runs.map(({ job }) => job.submission)).toEqual([1, 1]);
  });

  it(
    'INV-7: shows every token once and in order however its frames are dropped, repeated and ' +
      'shuffled',
    async () => {
      const fault = fc.record({ drop: fc.nat(9), repeat: fc.nat(9), swap: fc.nat(9) });
      const faults = fc.array(fault, { minLength: 9, maxLength: 9 });
      // Many streams at once: a lost last frame costs 2 s, after which the silence is checked.
      const streams = fc.array(faults, { minLength: 40, maxLength: 40 });
      await fc.assert(
        fc.asyncProperty(streams, async (plans) => {
          const results = await Promise.all(plans.map((plan) => damagedStream(plan)));
          for (const { text, finishReason, events } of results) {
            expect(text).toBe(whole);
            expect(finishReason).toBe('length');
            expect(events.at(-1)).toBe('[DONE]');
          }
        }),
        { numRuns: 2 },
      );
    },
  );

  interface Fault {
    readonly drop: number;
    readonly repeat: number;
    readonly swap: number;
  }

  async function damagedStream(faults: readonly Fault[]): Promise<ReadStream> {
    const [answer, run] = await begin();
    const stream = readStream(await answer);
    const frames = run.allFrames().flatMap((frame, i) => {
      if (faults[i]?.drop === 0) return [];
      return faults[i]?.repeat === 0 ? [frame, frame] : [frame];
    });
    faults.forEach(({ swap }, i) => {
      const [one, two] = [frames[i], frames[i + 1]];
      if (swap < 3 && one && two) [frames[i], frames[i + 1]] = [two, one];
    });
    const stopAnswering = answerResends(run);
    for (const frame of frames) run.publish(frame);
    await run.finishJob();
    const result = await stream;
    stopAnswering();
    return result;
  }

  /** Makes the engine answer resend requests. */
  function answerResends(run: FakeRun): () => void {
    const seen = fixture.engine.messages.length;
    const timer = setInterval(() => {
      for (const message of fixture.engine.messages.slice(seen)) {
        if (message.kind !== 'resend' || message.requestId !== run.job.requestId) continue;
        run.endSequence({ count: run.job.outputTokens - message.fromIndex });
      }
    }, 5);
    return () => clearInterval(timer);
  }
});
