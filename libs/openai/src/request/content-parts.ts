import { hashString, isObject, mix } from '@baton/kernel';
import type { TurnContent } from '@baton/text';
import { valueError } from '../refusal/request-error';
import type { RequestLimits } from '../limits';
import type { ContentPart, MessageField } from './chat.dto';
import { unsupported } from './unsupported';

/** Part types with text, and the key of that text. */
const TEXT_PARTS: Readonly<Record<string, string>> = {
  text: 'text',
  input_text: 'text',
  output_text: 'text',
  refusal: 'refusal',
  thinking: 'thinking',
};

/** Part types with other content, with its key and its kind. */
const MEDIA_PARTS: Readonly<Record<string, { readonly key: string; readonly kind: Medium }>> = {
  image_url: { key: 'image_url', kind: 'image' },
  input_image: { key: 'image_url', kind: 'image' },
  input_audio: { key: 'input_audio', kind: 'audio' },
  audio_url: { key: 'audio_url', kind: 'audio' },
};

type Medium = 'image' | 'audio';
type Piece = Exclude<TurnContent, string>[number];

/**
 * Reads the content of messages. Parts are joined by line breaks, as in vLLM. An image or clip
 * becomes as many token ids as the model spends on one, derived from its address or data, so that
 * equal ones share a prefix cache. No content is fetched or decoded.
 */
export class ContentReader {
  /** Ids made for media so far. At most the model's context, because a longer prompt is refused. */
  private placed = 0;

  constructor(private readonly limits: RequestLimits) {}

  read({ content }: MessageField, index: number): TurnContent {
    if (content === undefined || content === null) return '';
    if (typeof content === 'string') return content;
    const pieces = content.map((part, at) => this.piece(part, `messages[${index}].content[${at}]`));
    if (pieces.every((piece) => typeof piece === 'string')) return pieces.join('\n');
    return pieces.flatMap((piece, at): Piece[] => (at === 0 ? [piece] : ['\n', piece]));
  }

  private piece(part: ContentPart, place: string): Piece {
    const key = Object.hasOwn(TEXT_PARTS, part.type) ? TEXT_PARTS[part.type] : undefined;
    if (key !== undefined) return textIn(part, key, place);
    const medium = Object.hasOwn(MEDIA_PARTS, part.type) ? MEDIA_PARTS[part.type] : undefined;
    const cost = medium && this.costOf(medium.kind);
    if (medium === undefined || cost === undefined) {
      throw unsupported(place, `${place} of type '${part.type.slice(0, 100)}'`);
    }
    return this.placeholders(sourceOf(part, medium.key, place), cost);
  }

  private costOf(kind: Medium): number | undefined {
    return kind === 'image' ? this.limits.imageTokens : this.limits.audioTokens;
  }

  private placeholders(source: string, count: number): number[] {
    const { tokenizer, maxModelLen } = this.limits;
    const hash = hashString(source);
    const length = Math.max(0, Math.min(count, maxModelLen + 1 - this.placed));
    this.placed += length;
    return Array.from({ length }, (_, i) => {
      for (let attempt = 0; ; attempt++) {
        const id = mix(mix(hash, i), attempt) % tokenizer.vocabSize;
        if (tokenizer.hasToken(id)) return id;
      }
    });
  }
}

/** The text of a message without its other parts. */
export function plainText(content: TurnContent): string {
  if (typeof content === 'string') return content;
  return content.filter((piece) => typeof piece === 'string').join('');
}

function textIn(part: ContentPart, key: string, place: string): string {
  const text = part[key];
  if (typeof text === 'string') return text;
  const message = `${place} of type ${part.type} must have a string in '${key}'.`;
  throw valueError({ field: `${place}.${key}`, message });
}

/** The identity of an image or clip: its address or its data. */
function sourceOf(part: ContentPart, key: string, place: string): string {
  const value = part[key];
  const source = isObject(value) ? (value['url'] ?? value['data']) : value;
  if (typeof source === 'string' && source !== '') return source;
  const message = `${place} of type ${part.type} must have an address or data in '${key}'.`;
  throw valueError({ field: `${place}.${key}`, message });
}
