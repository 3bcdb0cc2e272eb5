"""The page's style sheet. Light and dark, by the reader's own setting."""

from __future__ import annotations

STYLE = """
:root{color-scheme:light dark;--bg:#fbfaf8;--card:#fff;--ink:#22201d;--soft:#6d675f;--line:#e4dfd8;
--good:#1c7c4a;--bad:#b3261e;--read:#2f855a;--written:#c27c0e;--fresh:#b8b1a7;
--c0:#3b6fb6;--c1:#a2552f;--c2:#5d7c2d;--c3:#7a4f9e;--c4:#1f7f86;--c5:#9c3d63}
@media(prefers-color-scheme:dark){:root{--bg:#191817;--card:#222120;--ink:#ece8e2;--soft:#a29b92;
--line:#3a3734;--good:#6fcf97;--bad:#ff8a80;--read:#48a878;--written:#e0a030;--fresh:#6d675f;
--c0:#7fabe6;--c1:#e0966f;--c2:#a3c46b;--c3:#bd98dd;--c4:#5fc3ca;--c5:#dd85a9}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1080px;padding:24px;background:var(--bg);color:var(--ink);
font:15px/1.5 system-ui,sans-serif}
h1{font-size:20px;margin:0}h2{font-size:15px;margin:0;display:flex;gap:10px;align-items:baseline;
flex-wrap:wrap}h3{font-size:12px;font-weight:600;margin:0;color:var(--soft)}
a{color:inherit;text-decoration:none}a:hover{text-decoration:underline}
code,pre{font:13px/1.45 ui-monospace,monospace}pre{margin:0;white-space:pre-wrap;
overflow-wrap:anywhere}
.facts{color:var(--soft);font-size:13px;margin:4px 0}ul.facts,ul.lanes{list-style:none;padding:0}
ul.facts{display:flex;flex-wrap:wrap;gap:4px 8px}ul.facts li{border:1px solid var(--line);
border-radius:10px;padding:0 8px}
time{margin-left:auto;color:var(--soft);font-weight:400;font-size:13px}
.overview{display:grid;grid-template-columns:max-content 1fr;gap:0 12px;margin:20px 0}
ul.lanes{margin:0}ul.lanes li{height:26px;line-height:26px;font-size:13px}
.overview svg{width:100%;height:100%;border-left:1px solid var(--line);
border-right:1px solid var(--line)}
.axis{display:flex;justify-content:space-between;color:var(--soft);font-size:12px;margin:2px 0 0;
grid-column:2}
article,.failure{background:var(--card);border:1px solid var(--line);border-radius:8px;
padding:14px 16px;margin:14px 0;border-left:4px solid var(--lane)}
article:target{outline:2px solid var(--lane)}
.failure{--lane:var(--bad)}.failure h2{color:var(--bad);margin-bottom:6px}
span.lane,ul.lanes li{color:var(--lane);font-weight:600}
.sides{display:grid;grid-template-columns:1fr 1fr;gap:12px;margin:8px 0}
@media(max-width:720px){.sides{grid-template-columns:1fr}}
.sides>div>p{color:var(--soft);margin:0;font-size:13px}
.sent::before{content:"request, last message";color:var(--soft);font-size:12px}
.answered::before{content:"reply";color:var(--soft);font-size:12px}
.block{border-left:2px solid var(--line);padding:2px 0 2px 10px;margin:6px 0}
.block pre{max-height:220px;overflow:auto}
.block[data-kind=tool_use]{border-color:var(--c1)}.block[data-kind=tool_result]{border-color:var(--c2)}
.block[data-kind=thinking]{border-color:var(--c3);font-style:italic}
.outcome{font-weight:600;margin:8px 0 4px}.good{color:var(--good)}.outcome.bad{color:var(--bad)}
.cache{display:flex;height:8px;border-radius:4px;overflow:hidden;gap:1px;background:var(--line)}
.read{background:var(--read)}.written{background:var(--written)}.fresh{background:var(--fresh)}
.strip{display:block;width:100%;height:32px;margin-top:8px;border-bottom:1px solid var(--line)}
.strip rect{fill:var(--lane)}
details{margin-top:6px}summary{cursor:pointer;color:var(--soft);font-size:13px}
details pre{max-height:420px;overflow:auto;border:1px solid var(--line);border-radius:6px;
padding:8px;margin-top:4px}
.lane0{--lane:var(--c0)}.lane1{--lane:var(--c1)}.lane2{--lane:var(--c2)}.lane3{--lane:var(--c3)}
.lane4{--lane:var(--c4)}.lane5{--lane:var(--c5)}
rect.lane0,rect.lane1,rect.lane2,rect.lane3,rect.lane4,rect.lane5{fill:var(--lane)}
rect.bad{fill:var(--bad)}
"""
