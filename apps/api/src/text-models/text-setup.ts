import type { BatonConfig } from '@baton/runtime';
import { defaultTokenizer, type LengthModel, type Tokenizer } from '@baton/text';
import { lengthModelOf } from '../generation/length-model';
import { ECHO } from './echo';
import type { TextModel } from './text-model';

/** How texts are counted, and where answers come from; made once, before the first request. */
export class TextSetup {
  constructor(
    readonly tokenizer: Tokenizer,
    /** Natural length of answers, and of the thinking before them. */
    readonly lengths: { readonly answer: LengthModel; readonly reasoning: LengthModel },
    /** Undefined: all is simulated. */
    readonly model: TextModel | undefined,
  ) {}

  /** Throws a `UsageError` for a file that cannot be used. */
  static open(config: BatonConfig): Promise<TextSetup> {
    const lengths = {
      answer: lengthModelOf(config),
      reasoning: lengthModelOf({ ...config, outputLengthMean: config.reasoningLengthMean }),
    };
    return Promise.resolve(new TextSetup(defaultTokenizer(), lengths, modelOf(config)));
  }

  onModuleDestroy(): void {
    this.model?.close();
  }
}

function modelOf({ textModel }: BatonConfig): TextModel | undefined {
  return textModel === 'echo' ? ECHO : undefined;
}
