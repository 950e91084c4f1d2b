import { PART, type Vocabulary } from './vocabulary';

const { determiner, adjective, noun, verb, preposition, adverb, conjunction } = PART;

/**
 * Weights of the next part after each part, eight per row, before the clause has its verb and after
 * it. `conjunction` stands for ", and".
 */
const BEFORE_VERB: readonly (readonly number[])[] = [
  [noun, noun, noun, noun, noun, adjective, adjective, adjective],
  [noun, noun, noun, noun, noun, noun, noun, adjective],
  [verb, verb, verb, verb, verb, verb, preposition, adverb],
  [determiner],
  [determiner, determiner, determiner, determiner, determiner, noun, noun, adjective],
  [verb],
  [determiner],
];
const AFTER_VERB: readonly (readonly number[])[] = [
  BEFORE_VERB[0]!,
  BEFORE_VERB[1]!,
  [preposition, preposition, preposition, preposition, conjunction, conjunction, adverb, adverb],
  [determiner, determiner, determiner, determiner, determiner, preposition, noun, adverb],
  BEFORE_VERB[4]!,
  [preposition, preposition, preposition, conjunction, conjunction, determiner, determiner, noun],
  [determiner],
];

const MIN_SENTENCE = 6;
const SENTENCE_SPREAD = 12;
/** Limit of tokens of a last sentence that is stretched to the end of the text. */
const LONGEST_SENTENCE = MIN_SENTENCE + SENTENCE_SPREAD;

/**
 * Writes readable sentences, one token per call. It keeps the place in the sentence and its own
 * random numbers (mulberry32, one multiplication chain per token), and does not read the time.
 * Equal seeds give equal tokens.
 */
export class SentenceGenerator {
  private part = -1;
  private hasVerb = false;
  private owesConjunction = false;
  private sentenceLeft = 0;
  private written = 0;
  private startsBare: boolean;

  /**
   * @param seed 32 bits
   * @param endAt tokens after which the text is complete, with a full stop as its last token.
   *   Further calls begin another sentence
   * @param startsBare the first word has no leading space
   */
  constructor(
    private readonly vocabulary: Vocabulary,
    private seed: number,
    private readonly text: { readonly endAt: number; readonly startsBare: boolean },
  ) {
    this.startsBare = text.startsBare;
  }

  next(): number {
    const random = this.random();
    if (this.sentenceLeft === 0) return this.openSentence(random);
    this.written += 1;
    this.sentenceLeft -= 1;
    if (this.sentenceLeft === 0) return this.closeSentence(random);
    if (this.owesConjunction) {
      this.owesConjunction = false;
      return this.word(conjunction, random);
    }
    return this.continueSentence(random);
  }

  private openSentence(random: number): number {
    this.sentenceLeft = this.sentenceLength(random) - 1;
    this.written += 1;
    this.part = determiner;
    this.hasVerb = false;
    this.owesConjunction = false;
    const openers = this.startsBare ? this.vocabulary.bareOpeners : this.vocabulary.openers;
    this.startsBare = false;
    return openers[(random >>> 8) % openers.length]!;
  }

  /**
   * Tokens of the next sentence, including its full stop. The last sentence ends with the text.
   */
  private sentenceLength(random: number): number {
    const length = MIN_SENTENCE + (random % SENTENCE_SPREAD);
    const left = this.text.endAt - this.written;
    if (left < 2) return length;
    if (left <= LONGEST_SENTENCE) return left;
    return Math.min(length, left - MIN_SENTENCE);
  }

  private closeSentence(random: number): number {
    const isParagraphEnd = random % 6 === 0 && this.written !== this.text.endAt;
    this.startsBare = isParagraphEnd && this.vocabulary.paragraphEnd !== this.vocabulary.fullStop;
    return isParagraphEnd ? this.vocabulary.paragraphEnd : this.vocabulary.fullStop;
  }

  private continueSentence(random: number): number {
    if (this.sentenceLeft === 1) {
      const canEndWithNoun = this.part !== noun && this.part !== adverb;
      return this.word(canEndWithNoun ? noun : adverb, random);
    }
    const choices = (this.hasVerb ? AFTER_VERB : BEFORE_VERB)[this.part]!;
    const part = choices[random % choices.length]!;
    if (part !== conjunction) return this.word(part, random);
    if (this.sentenceLeft < 5) return this.word(preposition, random);
    this.owesConjunction = true;
    this.hasVerb = false;
    return this.vocabulary.comma;
  }

  private word(part: number, random: number): number {
    this.part = part;
    if (part === verb) this.hasVerb = true;
    const words = this.vocabulary.inner[part]!;
    return words[(random >>> 8) % words.length]!;
  }

  /** Uniform in [0, 1), for choices other than words. */
  unit(): number {
    return this.random() / 2 ** 32;
  }

  private random(): number {
    this.seed = (this.seed + 0x6d2b_79f5) | 0;
    let x = Math.imul(this.seed ^ (this.seed >>> 15), 1 | this.seed);
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x;
    return (x ^ (x >>> 14)) >>> 0;
  }
}
