import { ConstraintError } from './constraint-error';
import { GrammarText } from './grammar/grammar-text';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from './json';
import { RegexText } from './regex-text';
import { SchemaText } from './schema/schema-text';
import type { StructuredText } from './structured-text';
import {
  choiceText,
  constantText,
  freeText,
  oneOfTexts,
  repeatedText,
  sequenceText,
} from './text-parts';

const MAX_DEPTH = 50;
/** Number of tags in a row where any number is allowed. */
const USUAL_TAGS = 2;

/**
 * Texts of a structural tag: free text with tagged parts that have their own constraints. Both
 * forms are supported: `{structures, triggers}`, and xgrammar's `{format}` with its kinds of parts.
 * Throws `ConstraintError`, with the place, for a tag that cannot be read or met.
 */
export function structuralTagText(tag: Json): StructuredText {
  if (!isJsonObject(tag)) throw new ConstraintError('a structural tag must be an object', '');
  const root = new Part(tag, '', 0);
  return tag['format'] === undefined ? structures(root) : structuredText(root.part('format'));
}

/** One object of a structural tag, with its place. */
class Part {
  constructor(
    private readonly json: JsonObject,
    readonly pointer: string,
    private readonly depth: number,
  ) {
    if (depth > MAX_DEPTH) throw new ConstraintError('nested too deeply', pointer);
  }

  member(name: string): Json {
    const value = Object.hasOwn(this.json, name) ? this.json[name] : undefined;
    if (value === undefined) throw this.fault(name, 'is missing');
    return value;
  }

  text(name: string): string {
    const value = this.member(name);
    if (typeof value === 'string') return value;
    throw this.fault(name, 'must be a string');
  }

  /** A string, or a list of alternative strings. */
  texts(name: string): readonly string[] {
    const value = this.member(name);
    const list = isJsonArray(value) ? value : [value];
    if (list.length > 0 && list.every((one) => typeof one === 'string')) return list;
    throw this.fault(name, 'must be a string or a list of strings');
  }

  flag(name: string): boolean {
    return Object.hasOwn(this.json, name) && this.json[name] === true;
  }

  part(name: string): Part {
    return this.child(this.member(name), name);
  }

  parts(name: string): Part[] {
    const list = this.member(name);
    if (!isJsonArray(list) || list.length === 0) throw this.fault(name, 'must be a list of parts');
    return list.map((one, i) => this.child(one, `${name}/${i}`));
  }

  /** Reads a member's constraint, and puts the member's place before the places in its errors. */
  within(name: string, read: () => StructuredText): StructuredText {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof ConstraintError)) throw error;
      const place = `${this.pointer}/${name}${error.pointer ?? ''}`;
      throw new ConstraintError(error.reason, place);
    }
  }

  fault(name: string, what: string): ConstraintError {
    return new ConstraintError(`${name} ${what}`, `${this.pointer}/${name}`);
  }

  private child(json: Json, step: string): Part {
    if (!isJsonObject(json)) throw this.fault(step, 'must be an object');
    return new Part(json, `${this.pointer}/${step}`, this.depth + 1);
  }
}

const KINDS: Readonly<Record<string, (part: Part) => StructuredText>> = {
  const_string: (part) => constantText(part.text('value')),
  any_text: () => freeText([]),
  json_schema: schemaOf('json_schema'),
  regex: (part) => part.within('pattern', () => new RegexText(part.text('pattern'))),
  grammar: (part) => part.within('grammar', () => new GrammarText(part.text('grammar'))),
  sequence: (part) => sequenceText(part.parts('elements').map(structuredText)),
  or: (part) => oneOfTexts(part.parts('elements').map(structuredText)),
  optional: (part) => repeatedText(structuredText(part.part('content')), times(0, 1)),
  star: (part) => repeatedText(structuredText(part.part('content')), times(0, USUAL_TAGS)),
  plus: (part) => repeatedText(structuredText(part.part('content')), times(1, USUAL_TAGS)),
  tag,
  triggered_tags: triggeredTags,
  tags_with_separator: (part) =>
    repeatedText(oneOfTexts(part.parts('tags').map(tag)), {
      ...timesOf(part),
      separator: part.text('separator'),
    }),
};

function structuredText(part: Part): StructuredText {
  const type = part.text('type');
  const read = Object.hasOwn(KINDS, type) ? KINDS[type] : undefined;
  if (read === undefined) throw part.fault('type', `'${type.slice(0, 100)}' is not supported`);
  return read(part);
}

function schemaOf(name: string): (part: Part) => StructuredText {
  return (part) => part.within(name, () => new SchemaText(part.member(name)));
}

function tag(part: Part): StructuredText {
  const content = structuredText(part.part('content'));
  return sequenceText([constantText(part.text('begin')), content, choiceText(part.texts('end'))]);
}

function triggeredTags(part: Part): StructuredText {
  const triggers = part.texts('triggers');
  checkTriggers(part, 'tags', triggers);
  const free = freeText(triggers);
  const tags = oneOfTexts(part.parts('tags').map(tag));
  const all = repeatedText(sequenceText([free, tags]), times(1, timesOf(part).max));
  if (part.flag('stop_after_first')) return all;
  const some = part.flag('at_least_one') ? all : oneOfTexts([free, all]);
  return sequenceText([some, free]);
}

function structures(root: Part): StructuredText {
  const triggers = root.texts('triggers');
  checkTriggers(root, 'structures', triggers);
  const free = freeText(triggers);
  const parts = root.parts('structures').map((part) => {
    const schema = schemaOf('schema')(part);
    return sequenceText([constantText(part.text('begin')), schema, constantText(part.text('end'))]);
  });
  return sequenceText([free, repeatedText(oneOfTexts(parts), times(1, USUAL_TAGS)), free]);
}

/** Checks that each tag begins with a trigger: a decoder recognises a tag only by its trigger. */
function checkTriggers(part: Part, name: string, triggers: readonly string[]): void {
  part.parts(name).forEach((one, i) => {
    const begin = one.text('begin');
    if (triggers.some((trigger) => begin.startsWith(trigger))) return;
    throw part.fault(`${name}/${i}/begin`, 'must begin with one of the triggers');
  });
}

function timesOf(part: Part): { min: number; max: number; separator: string } {
  const min = part.flag('at_least_one') ? 1 : 0;
  return times(min, part.flag('stop_after_first') ? 1 : USUAL_TAGS);
}

function times(min: number, max: number): { min: number; max: number; separator: string } {
  return { min, max, separator: '' };
}
