import { randomInt } from 'node:crypto';
import { StopStrings } from '../text/stop-strings.mjs';

const MAX_SEED = 2 ** 31;

/**
 * Computes a prompt but for its last token. The last one goes through the model alone, wherever the
 * others were computed: so a handed-over request and a local one compute the same.
 */
export async function prefill(model, sequence, { tokens, signal }) {
  const { batchTokens } = model;
  const last = tokens.length - 1;
  for (let at = 0; at < last; at += batchTokens) {
    signal.throwIfAborted();
    const part = tokens.slice(at, Math.min(last, at + batchTokens));
    await sequence.evaluateWithoutGeneratingNewTokens(part);
  }
}

/**
 * Goes on from a prompt of which all but the last token is in the sequence.
 *
 * @param onText called with the text that is complete, and the tokens since its last call
 * @returns the reason of the end, the stop it ended with, all tokens, and the text and tokens that
 *   are not yet passed to `onText`
 */
export async function generate(model, sequence, { request, tokens, signal, onText }) {
  const text = new GeneratedText(model, request);
  const { made } = text;
  const options = samplingOptions(model, request, () => made.length < request.minTokens);
  let untold = [];
  for await (const token of sequence.evaluate([tokens.at(-1)], options)) {
    signal.throwIfAborted();
    untold.push(token);
    const more = text.push(token);
    if (more.end !== undefined) return { ...more.end, text: more.text, untold, made };
    if (more.text === '') continue;
    onText(more.text, untold);
    untold = [];
  }
  return { reason: 'stop', stopReason: null, text: text.rest(), untold, made };
}

/**
 * The text of an answer, and where it ends. As in vLLM only the length ends it before `minTokens`.
 */
class GeneratedText {
  constructor(model, request) {
    Object.assign(this, { model, request, made: [] });
    this.pieces = model.newDetokenizer();
    this.stops = new StopStrings(request.stops);
  }

  /** The text of the token, and the reason of the end if it is the last. */
  push(token) {
    const { maxTokens, minTokens, ignoreEos, stopTokenIds } = this.request;
    this.made.push(token);
    const mayStop = this.made.length > minTokens;
    const isStop = mayStop && stopTokenIds.includes(token);
    if (isStop || (this.model.isEnd(token) && !ignoreEos)) {
      const stopReason = isStop ? token : null;
      return { text: this.rest(), end: { reason: 'stop', stopReason } };
    }
    const piece = this.pieces.push(token);
    const { text, stop } = mayStop ? this.stops.push(piece) : { text: piece };
    if (stop !== undefined) return { text, end: { reason: 'stop', stopReason: stop } };
    if (this.made.length < maxTokens) return { text };
    return { text: text + this.rest(), end: { reason: 'length', stopReason: null } };
  }

  /** The rest of the text, at the end. */
  rest() {
    return this.stops.push(this.pieces.flush()).text + this.stops.flush();
  }
}

function samplingOptions(model, { sampling, minTokens }, isTooEarly) {
  const { temperature, topP, topK, minP, seed } = sampling;
  return {
    temperature,
    topP,
    topK,
    minP,
    yieldEogToken: true,
    seed: seed === undefined ? randomInt(MAX_SEED) : Math.abs(seed) % MAX_SEED,
    ...(minTokens > 0 && { tokenBias: () => (isTooEarly() ? model.endless : model.unbiased) }),
  };
}
