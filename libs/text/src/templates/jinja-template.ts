import { Environment, Interpreter, Template } from '@huggingface/jinja';
import { reasonOf, spendWork, WorkExceeded } from '@baton/kernel';
import { type Marker, MARKERS } from '../tokenizers/markers';
import type { Tokenizer } from '../tokenizers/tokenizer';

/** Work of one step of a template: some 1 µs. */
const STEP_WORK = 8;
/** Characters of a template's text that are written in the time of one unit. */
const CHARACTERS_PER_UNIT = 64;
/** The first of the characters that stand for images and clips; Unicode gives them no meaning. */
const FIRST_PLACEHOLDER = 0xf0000;
const MOST_PLACEHOLDERS = 0xfffd;

/** A template that cannot be read, or refuses a conversation. The message is one sentence. */
export class ChatTemplateError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ChatTemplateError';
  }
}

/** A template that failed on its own, without `raise_exception`. */
class FailedTemplate extends ChatTemplateError {}

/** What a model's folder gives to its template. */
export interface JinjaOptions {
  /** The template for conversations with tools; default: the only one. */
  readonly toolUse?: string | undefined;
  /** `bos_token`, `eos_token` and the like, by these names. */
  readonly specialTokens?: Readonly<Record<string, string>>;
  /** The time for `strftime_now`, in Python's notation. */
  readonly strftimeNow: (format: string) => string;
}

/** One message as a template sees it, in the fields of the API. */
export type TemplateMessage = Readonly<Record<string, unknown>> & {
  readonly role: string;
  readonly content: string;
};

export interface Conversation {
  readonly messages: readonly TemplateMessage[];
  /** Empty: the conversation has none. */
  readonly tools: readonly object[];
  readonly documents: readonly object[];
  readonly addGenerationPrompt: boolean;
  /** Whether the last message stays open. */
  readonly continueFinalTurn: boolean;
  /** Variables of the request. They replace none of the above. */
  readonly variables: Readonly<Record<string, unknown>>;
}

/** The chat template of a model in Jinja, rendered as transformers and vLLM render it. */
export class JinjaTemplate {
  private readonly program: Template;
  private readonly toolProgram: Template;
  /** Whether the template reads contents as lists of parts, and no texts. */
  private readonly readsParts: boolean;
  /** The special tokens of a tokenizer, and those of other models that the template writes. */
  private special: { readonly tokenizer: Tokenizer; readonly pattern: RegExp } | undefined;

  /** Throws `ChatTemplateError`. */
  constructor(
    readonly source: string,
    private readonly options: JinjaOptions,
  ) {
    this.program = parsed(source);
    this.toolProgram = options.toolUse === undefined ? this.program : parsed(options.toolUse);
    this.readsParts = !this.takes('x') && this.takes(partsOf('x'));
  }

  /** Throws `ChatTemplateError` with the message of the template's `raise_exception`. */
  render(conversation: Conversation): string {
    const text = this.run(conversation);
    return conversation.continueFinalTurn ? throughLast(text, conversation) : text;
  }

  /**
   * The ids of a rendered conversation. As in vLLM, the name of a special token is that token, also
   * where a message has it.
   *
   * @param media ids of images and clips, for the placeholders in contents
   * @param limit a longer text gives exactly `limit + 1` ids
   */
  ids(
    tokenizer: Tokenizer,
    text: string,
    { media, limit }: { readonly media: readonly (readonly number[])[]; readonly limit: number },
  ): Int32Array {
    const ids: number[] = [];
    let from = 0;
    const encode = (to: number): void => {
      if (to === from || ids.length > limit) return;
      for (const id of tokenizer.encode(text.slice(from, to), limit - ids.length)) ids.push(id);
    };
    spendWork(text.length / CHARACTERS_PER_UNIT);
    for (const { 0: name, index } of text.matchAll(this.specialIn(tokenizer))) {
      encode(index);
      if (ids.length > limit) break;
      from = index + name.length;
      const placed = media[name.codePointAt(0)! - FIRST_PLACEHOLDER];
      if (placed !== undefined) for (const id of placed) ids.push(id);
      else if (name.codePointAt(0)! < FIRST_PLACEHOLDER) {
        ids.push(tokenizer.special.idOf(name as Marker));
      } else from = index;
    }
    encode(text.length);
    if (ids.length > limit) ids.length = limit + 1;
    return Int32Array.from(ids);
  }

  private run(conversation: Conversation): string {
    const { messages, tools, documents, addGenerationPrompt, variables } = conversation;
    return this.interpreted(tools.length === 0 ? this.program : this.toolProgram, {
      ...variables,
      messages: this.readsParts
        ? messages.map((one) => ({ ...one, content: partsOf(one.content) }))
        : messages,
      tools: tools.length === 0 ? null : tools,
      documents: documents.length === 0 ? null : documents,
      add_generation_prompt: addGenerationPrompt,
    });
  }

  /** Whether the template writes a message with this content, or refuses it by its own rules. */
  private takes(content: unknown): boolean {
    try {
      this.interpreted(this.program, { messages: [{ role: 'user', content }] });
      return true;
    } catch (error) {
      return !(error instanceof FailedTemplate);
    }
  }

  private interpreted(
    { parsed: program }: Template,
    variables: Readonly<Record<string, unknown>>,
  ): string {
    const { raised, environment } = environmentOf({
      ...variables,
      ...this.options.specialTokens,
      strftime_now: this.options.strftimeNow,
    });
    const interpreter = new Interpreter(environment);
    const evaluate = interpreter.evaluate.bind(interpreter);
    interpreter.evaluate = (statement, scope) => {
      spendWork(STEP_WORK);
      return evaluate(statement, scope);
    };
    try {
      return String(interpreter.run(program).value);
    } catch (error) {
      if (error instanceof WorkExceeded) throw error;
      const why = raised();
      if (why !== undefined) throw new ChatTemplateError(why);
      throw new FailedTemplate(`The chat template failed: ${reasonOf(error)}`);
    }
  }

  private specialIn(tokenizer: Tokenizer): RegExp {
    if (this.special?.tokenizer !== tokenizer) {
      const sources = this.source + (this.options.toolUse ?? '');
      const written = MARKERS.filter((marker) => sources.includes(marker));
      const names = [...new Set([...tokenizer.special.ownNames, ...written])]
        .filter((name) => name !== '')
        .sort((a, b) => b.length - a.length)
        .map((name) => name.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'));
      const pattern = new RegExp([...names, '[\\u{F0000}-\\u{FFFFD}]'].join('|'), 'gu');
      this.special = { tokenizer, pattern };
    }
    return this.special.pattern;
  }
}

/** The character in a content that stands for the image or clip of this number. */
export function placeholder(index: number): string {
  if (index > MOST_PLACEHOLDERS) throw new ChatTemplateError('Too many images and clips.');
  return String.fromCodePoint(FIRST_PLACEHOLDER + index);
}

function partsOf(text: string): readonly object[] {
  return [{ type: 'text', text }];
}

function parsed(source: string): Template {
  try {
    return new Template(source);
  } catch (error) {
    throw new ChatTemplateError(`it is not a Jinja template: ${reasonOf(error)}`);
  }
}

/** `raised` returns the message of `raise_exception`, when the template has called it. */
function environmentOf(variables: Readonly<Record<string, unknown>>): {
  readonly environment: Environment;
  readonly raised: () => string | undefined;
} {
  let message: string | undefined;
  const environment = new Environment();
  const constants = { true: true, false: false, none: null, True: true, False: false, None: null };
  const functions = {
    raise_exception: (why: unknown) => {
      message = String(why);
      throw new ChatTemplateError(message);
    },
    range,
  };
  for (const [name, value] of Object.entries({ ...variables, ...constants, ...functions })) {
    environment.set(name, value);
  }
  return { environment, raised: () => message };
}

function range(start: number, stop?: number, step = 1): number[] {
  const [from, to] = stop === undefined ? [0, start] : [start, stop];
  const count = Math.max(0, Math.ceil((to - from) / step));
  spendWork(count);
  return Array.from({ length: count }, (_, i) => from + i * step);
}

/** The text up to the end of the last message, as transformers cut it. */
function throughLast(text: string, { messages }: Conversation): string {
  const last = messages.at(-1)?.content.trim() ?? '';
  const at = text.lastIndexOf(last);
  if (at !== -1) return text.slice(0, at + last.length);
  throw new ChatTemplateError(
    'continue_final_message is set, but the chat template does not write the final message.',
  );
}
