import { TONES } from '../sections';

/**
 * The style sheet of a page, for light and dark. A tone is hue and saturation; the lightness
 * depends on the colour scheme.
 */
export function stylesheet(): string {
  const tones = Object.entries(TONES);
  const variables = tones.map(([name, [hue, saturation]]) => `--${name}:${hue} ${saturation}%;`);
  const classes = tones.map(([name]) => {
    return (
      `.tone-${name}{background:hsl(var(--${name}) var(--tone-light));fill:hsl(var(--${name}) ` +
      'var(--tone-light))}'
    );
  });
  return `:root{${variables.join('')}}${RULES}${classes.join('')}`;
}

const RULES = `
:root{--page:#f4f5f7;--panel:#fff;--text:#1b1f24;--muted:#59626e;--line:#dde1e7;--edge:rgb(27 31 36 / .28);--focus:#2f6fd6;--tone-light:48%;--heat-from:95%;--heat-by:-53%;--heat-cool:#10151c;--heat-hot:#fff;color-scheme:light}
@media (prefers-color-scheme:dark){:root{--page:#12151a;--panel:#1b1f26;--text:#e4e8ee;--muted:#9ba5b3;--line:#343b46;--edge:rgb(0 0 0 / .7);--focus:#6aa5ff;--tone-light:64%;--heat-from:20%;--heat-by:31%;--heat-cool:#e4e8ee;--heat-hot:#fff;color-scheme:dark}}
*{box-sizing:border-box}
html{scroll-padding-top:3.5rem}
body{margin:0;background:var(--page);color:var(--text);font:15px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
header{padding:1.4rem 1.5rem 0;max-width:1500px;margin:auto}
h1{font-size:1.5rem;margin:0 0 .2rem;overflow-wrap:anywhere}
header p{margin:0 0 .8rem;color:var(--muted)}
nav{display:flex;flex-wrap:wrap;gap:.3rem .9rem;font-size:.85rem;padding:.5rem 0;border-top:1px solid var(--line)}
nav a{color:var(--muted);text-decoration:none}
nav a:hover{color:var(--text);text-decoration:underline}
main{display:grid;align-items:start;grid-template-columns:repeat(2,minmax(0,1fr));gap:1rem;padding:.5rem 1.5rem 2rem;max-width:1500px;margin:auto}
section{grid-column:span 2;background:var(--panel);border:1px solid var(--line);border-radius:10px;padding:1rem 1.1rem;min-width:0}
section.half{grid-column:span 1}
@media (max-width:900px){section.half{grid-column:span 2}main{padding:.5rem .6rem}header{padding:1rem .8rem 0}}
h2{font-size:1rem;margin:0 0 .5rem}
section>p{margin:-.2rem 0 .6rem;color:var(--muted);font-size:.85rem;max-width:75ch}
:focus-visible{outline:2px solid var(--focus);outline-offset:2px;border-radius:4px}
dl{margin:0}
dl.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(126px,1fr));gap:.8rem}
.tiles div{border-left:3px solid hsl(var(--prefill) var(--tone-light));padding-left:.7rem}
dt{color:var(--muted);font-size:.8rem}
dd{margin:0;overflow-wrap:break-word;min-width:0}
.tiles dd{font-size:1.35rem;font-weight:600;font-variant-numeric:tabular-nums}
dd small{display:block;font-size:.78rem;font-weight:400;color:var(--muted)}
dl.list{columns:3 260px;column-gap:2rem;font-size:.85rem}
.list div{display:flex;justify-content:space-between;gap:1rem;padding:.12rem 0;border-bottom:1px dotted var(--line);break-inside:avoid}
.list dd{text-align:right}
.commands pre{margin:.4rem 0;font-size:.85rem;white-space:pre-wrap;overflow-x:auto}
.commands span{white-space:nowrap}
.scroll{overflow-x:auto;max-height:32rem;background:linear-gradient(to left,var(--panel) 45%,transparent) right/3rem 100% no-repeat local,linear-gradient(to left,var(--edge),transparent) right/1.2rem 100% no-repeat scroll}
table{border-collapse:collapse;width:100%;font-size:.8rem;font-variant-numeric:tabular-nums}
th,td{padding:.28rem .3rem;text-align:left;white-space:nowrap;border-bottom:1px solid var(--line)}
thead th{color:var(--muted);font-weight:500;white-space:normal;vertical-align:bottom;position:sticky;top:0;background:var(--panel)}
tbody th{font-weight:500}
tbody th:first-child,tbody td:first-child{white-space:normal;min-width:8rem}
@media (max-width:900px){.scroll tbody th:first-child,.scroll tbody td:first-child{position:sticky;left:0;background:var(--panel)}}
.right{text-align:right}
.bars th{width:1%}.bars td.right{width:1%}
.bars td,.bars th{border:0;padding:.18rem .5rem}
.track{min-width:8rem}
.track i{display:block;height:.85rem;border-radius:3px;min-width:1px}
.effects{font-size:.8rem;font-variant-numeric:tabular-nums}
.effects>div{display:grid;grid-template-columns:9rem 13rem 1fr 13rem;gap:.2rem .8rem;align-items:center;padding:.25rem 0;border-bottom:1px solid var(--line)}
.effects strong{font-weight:500}
.effects small{display:block;color:var(--muted);overflow-wrap:anywhere}
.effects .low{text-align:right}
.range{position:relative;height:1.1rem;min-width:6rem}
.range i{position:absolute;top:0;bottom:0;border-radius:2px}
.range b{position:absolute;top:-.2rem;bottom:-.2rem;border-left:2px solid var(--text)}
@media (max-width:900px){.effects>div{grid-template-columns:1fr 1fr}.effects strong,.effects .range{grid-column:span 2}.effects .range{order:1}.effects .low{text-align:left}.effects .high{text-align:right}}
.heatMap td{text-align:center;background:hsl(216 68% calc(var(--heat-from) + var(--heat)*var(--heat-by)));border:2px solid var(--panel);border-radius:4px;color:var(--heat-cool)}
.heatMap td.hot{color:var(--heat-hot)}
.heatMap td.none{background:none;color:var(--muted)}
.heatMap td.best{outline:3px solid hsl(var(--decode) var(--tone-light));outline-offset:-3px;font-weight:700}
.heatMap thead th{text-align:center}
.drawn{position:relative}
.drawn .hint,.controls{font-size:.78rem;color:var(--muted)}
.plot{min-height:260px}
.uplot{font-family:inherit}
.u-legend{font-size:.78rem;text-align:left}
.u-legend.u-inline .u-series{padding-right:.7rem}
.u-legend th,.u-legend td{border:0;padding:.1rem .2rem;white-space:nowrap}
.u-legend .u-marker{border-radius:2px}
.u-select{background:hsl(var(--prefill) 50% / .18)}
.controls{display:flex;flex-wrap:wrap;gap:.4rem;align-items:center;margin-bottom:.5rem}
.controls button,.controls select{font:inherit;color:var(--text);background:var(--page);border:1px solid var(--line);border-radius:6px;padding:.2rem .6rem;cursor:pointer}
.controls button:disabled{opacity:.45;cursor:default}
.key{display:inline-flex;align-items:center;gap:.3rem;margin-right:.6rem}
.key i{width:.8rem;height:.8rem;border-radius:2px}
.drawn svg{display:block;width:100%}
.drawn svg text{fill:var(--muted);font-size:11px}
.drawn svg line{stroke:var(--line)}
.drawn svg rect{shape-rendering:crispEdges}
section.answer{border-left:8px solid hsl(var(--queue) var(--tone-light))}
.answer.met{border-left-color:hsl(var(--good) var(--tone-light))}
.answer.missed,.answer.void{border-left-color:hsl(var(--bad) var(--tone-light))}
.answer .verdict{margin:0;font-size:1rem;font-weight:700;color:var(--text)}
.answer .sentence{margin:.2rem 0 .8rem;font-size:1.25rem;color:var(--text);max-width:70ch}
.answer.void dd{color:var(--muted);text-decoration:line-through}
.answer.void .verdict{font-size:1.8rem;color:hsl(var(--bad) var(--tone-light))}
body.void main>section:not(.answer){opacity:.45;background:repeating-linear-gradient(135deg,var(--panel) 0 24px,hsl(var(--bad) 50% / .13) 24px 48px)}
summary{cursor:pointer}
summary h2{display:inline;margin:0}
details>p:first-of-type{color:var(--muted);font-size:.85rem;max-width:75ch}
details[open]>summary{margin-bottom:.5rem}
section:has(>details:not([open])){padding:.55rem 1.1rem}
.changed dt::before{content:"● ";color:hsl(var(--decode) var(--tone-light))}
@media print{nav,.controls{display:none}section{break-inside:avoid}}
`;
