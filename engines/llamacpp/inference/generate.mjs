import { randomInt } from 'node:crypto';
import { StopStrings } from '../text/stop-strings.mjs';

const MAX_SEED = 2 ** 31;

/**
 * Computes a prompt but for its last token. The last one goes through the model by itself, wherever the others were computed: so a handed-over
 * request and one that stayed compute the same.
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
 * @param onText  called with what can be told, and the tokens since it was called last
 * @returns why it ended, and what it ended with
 */
export async function generate(model, sequence, { request, tokens, signal, onText }) {
  const { maxTokens, minTokens, ignoreEos, stopTokenIds } = request;
  const pieces = model.newDetokenizer();
  const stops = new StopStrings(request.stops);
  const made = [];
  let untold = [];
  const options = samplingOptions(model, request, () => made.length < minTokens);
  const drawn = sequence.evaluate([tokens.at(-1)], { ...options, yieldEogToken: true });
  for await (const token of drawn) {
    signal.throwIfAborted();
    made.push(token);
    untold.push(token);
    const isStop = made.length > minTokens && stopTokenIds.includes(token);
    if (isStop || (model.isEnd(token) && !ignoreEos)) {
      const rest = stops.push(pieces.flush());
      const stopReason = isStop ? token : null;
      return { reason: 'stop', stopReason, text: rest.text + stops.flush(), untold, made };
    }
    const { text, stop } = stops.push(pieces.push(token));
    if (stop !== undefined && made.length > minTokens) {
      return { reason: 'stop', stopReason: stop, text, untold, made };
    }
    if (made.length >= maxTokens) {
      const rest = stops.push(pieces.flush());
      return {
        reason: 'length',
        stopReason: null,
        text: text + rest.text + stops.flush(),
        untold,
        made,
      };
    }
    if (text !== '') {
      onText(text, untold);
      untold = [];
    }
  }
  return { reason: 'stop', stopReason: null, text: stops.flush(), untold, made };
}

function samplingOptions(model, { sampling, minTokens }, isTooEarly) {
  const { temperature, topP, topK, minP, seed } = sampling;
  return {
    ...{ temperature, topP, topK, minP },
    seed: seed === undefined ? randomInt(MAX_SEED) : Math.abs(seed) % MAX_SEED,
    ...(minTokens > 0 && { tokenBias: () => (isTooEarly() ? model.endless : model.unbiased) }),
  };
}
