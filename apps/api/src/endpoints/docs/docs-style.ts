/** Light or dark, following the system's colour scheme. */
export const DOCS_STYLE = `
:root { color-scheme: light dark; --line: #d8dde3; --soft: #f5f7f9; --dim: #5a6572; --link: #0b62c4;
  --get: #1a6fb5; --post: #1d7a44; --delete: #b3362b; }
@media (prefers-color-scheme: dark) {
  :root { --line: #353c45; --soft: #1c2127; --dim: #a3adb8; --link: #77b3ff;
    --get: #77b3ff; --post: #6fcf97; --delete: #ff8a80; }
  body { background: #14181d; color: #e6e9ec; } }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem; font: 16px/1.5 system-ui, sans-serif; }
h1 { margin: 0; } h1 small, .note { color: var(--dim); font-weight: 400; font-size: 1rem; }
h2 { margin: 2rem 0 .5rem; font-size: 1.2rem; } h3 { margin: .75rem 0 .25rem; font-size: .95rem; }
a { color: var(--link); } nav { display: flex; flex-wrap: wrap; gap: .25rem 1rem; }
code { font: .9em/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
details { border: 1px solid var(--line); border-radius: 6px; margin: .35rem 0; padding: .4rem .75rem; }
details[open] { background: var(--soft); }
summary { cursor: pointer; } summary span { color: var(--dim); margin-left: .5rem; }
summary b { display: inline-block; min-width: 4.2rem; font-size: .8rem; }
.get { color: var(--get); } .post { color: var(--post); } .delete { color: var(--delete); }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
td { border-top: 1px solid var(--line); padding: .2rem .75rem .2rem 0; vertical-align: top; }
`;
