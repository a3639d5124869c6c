"""The look of the page of a report: light, dark, narrow, and on paper."""

from __future__ import annotations

STYLE = """
:root{color-scheme:light dark;--ink:#1b1f24;--paper:#fff;--line:#c9ced6;--soft:#f3f5f8;
--quiet:#545b66;--link:#0b57b7;--h1:#d6e6fa;--h2:#a5c8f2;--h3:#6aa3e4;--h4:#2f77cc;--h5:#0c3f86}
@media (prefers-color-scheme:dark){:root{--ink:#e8eaed;--paper:#15181c;--line:#454b54;
--soft:#1f242b;--quiet:#aeb5bf;--link:#8ab8ff;--h1:#1d3350;--h2:#26538a;--h3:#3a7cc7;--h4:#78b1f2;
--h5:#cfe4ff}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1.5rem;max-width:80rem;color:var(--ink);background:var(--paper);
font:16px/1.5 system-ui,sans-serif}
h1{font-size:1.7rem;margin:.5rem 0}h2{font-size:1.35rem;margin:2.5rem 0 .5rem}
h3{font-size:1.15rem;margin:2rem 0 .5rem}
code{font-family:ui-monospace,monospace;font-size:.9em;overflow-wrap:anywhere}
.facts{display:flex;flex-wrap:wrap;gap:.75rem;padding:0;margin:1rem 0;list-style:none}
.facts li{flex:1 1 8rem;padding:.6rem .9rem;border:1px solid var(--line);border-radius:8px;
background:var(--soft)}
.facts b{display:block;font-size:1.5rem;line-height:1.2;font-variant-numeric:tabular-nums}
.tables{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,22rem),1fr));gap:0 1rem}
.scroll{overflow-x:auto;border:1px solid var(--line);border-radius:8px;margin:.75rem 0}
table{border-collapse:collapse;width:100%}
caption{text-align:left;padding:.5rem .75rem;font-weight:600}
th,td{text-align:left;padding:.3rem .75rem;border-top:1px solid var(--line);vertical-align:top}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}
thead th{background:var(--soft)}
svg{display:block;width:100%;height:auto;min-width:44rem;background:var(--paper)}
svg.bar{min-width:0}
svg text{font:12px system-ui,sans-serif;fill:var(--ink)}
svg .on{fill:#10151b}svg .head{font-weight:600}svg .quiet{fill:var(--quiet)}
svg .band{fill:var(--soft)}svg .frame{fill:none;stroke:var(--ink)}svg .edge{stroke:#333}
svg .h1{fill:var(--h1)}svg .h2{fill:var(--h2)}svg .h3{fill:var(--h3)}svg .h4{fill:var(--h4)}
svg .h5{fill:var(--h5)}
figure{margin:1rem 0}figcaption{margin-bottom:.5rem}
figcaption b{display:block}
summary{cursor:pointer;padding:.4rem 0;color:var(--link)}
a{color:var(--link)}:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.skip{position:absolute;left:-100rem}.skip:focus{position:static}
.pair{white-space:nowrap;margin-right:.6rem}
.key{display:inline-block;width:1em;height:1em;border:1px solid #555;vertical-align:-.1em}
@media (max-width:40rem){body{padding:1rem}th,td{padding:.3rem .4rem}h1{font-size:1.4rem}}
@media print{:root{color-scheme:light}body{max-width:none;padding:0;font-size:10pt}
.scroll{overflow:visible;border:0}table{table-layout:fixed}td{overflow-wrap:anywhere}
svg{min-width:0}figure,tr,.facts{break-inside:avoid}
.skip{display:none}summary{color:inherit}
details::details-content{content-visibility:visible;block-size:auto}}
"""
