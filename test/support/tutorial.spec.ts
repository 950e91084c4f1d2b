import { describe, expect, it } from 'vitest';
import { asPrinted, linesOf, readTutorial } from './tutorial';

const PAGE = `
Save this as \`out/a.yaml\`:

\`\`\`yaml
a: 1
\`\`\`

\`\`\`sh
bin/baton up 1P1D
docker ps   # not run here: needs Docker
\`\`\`

<!-- varies: [\\d.]+ ms -->

\`\`\`text
TTFT  12.5 ms of 3
\`\`\`

Stop it with Ctrl-C.

\`\`\`sh
bin/baton doctor
\`\`\`
`;

describe('a tutorial', () => {
  it('is read as steps in the order of the page, without commands that need another tool', () => {
    const { steps, needs } = readTutorial(PAGE);
    expect(steps).toMatchObject([
      { kind: 'save', path: 'out/a.yaml', text: 'a: 1\n' },
      { kind: 'run', script: 'bin/baton up 1P1D\n' },
      { kind: 'output', lines: ['TTFT # of 3'] },
      { kind: 'stop' },
      { kind: 'run', script: 'bin/baton doctor\n' },
    ]);
    expect([...needs]).toEqual(['Docker']);
  });

  it('may mark only figures that its output has', () => {
    expect(() => readTutorial(PAGE.replace('ms -->', 'km -->'))).toThrow('Nothing in this output');
  });
});

describe('a quoted output', () => {
  const printed = ['head', 'TTFT 1 ms', 'TPOT 2 ms', 'end'];

  it.each([
    [['head', 'TTFT 1 ms', 'TPOT 2 ms', 'end']],
    [['…', 'TPOT 2 ms', '…']],
    [['head', '…', 'end']],
    [['head', 'TTFT … ms', '…']],
  ])('is as printed where it is equal or cut: %j', (quoted) => {
    expect(asPrinted(quoted, printed)).toEqual(quoted);
  });

  it.each([
    [['…', 'TPOT 3 ms', '…']],
    [['head', 'TPOT 2 ms', 'end']],
    [['head', 'TTFT 1 ms']],
    [['…', 'ITL 2 ms']],
    [['TTFT 1 ms', '…']],
  ])('is not as printed where a line differs, is missing or is left out: %j', (quoted) => {
    expect(asPrinted(quoted, printed)).not.toEqual(quoted);
  });

  it('differs in the columns too where nothing varies', () => {
    expect(linesOf('a  1\n\nb\n', undefined)).toEqual(['a  1', 'b']);
    expect(linesOf('a  1 ms\n22 ms\n', /\d+ ms/g)).toEqual(['a #']);
  });
});
