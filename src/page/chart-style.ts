// How the chart looks. Pages change it through the custom properties at the top, and through ::part().

export const STYLE = `
:host {
  --bar: var(--usage-chart-bar, light-dark(#3056d3, #7d9bff));
  --bar-marked: var(--usage-chart-bar-marked, light-dark(#1b37a0, #b5c6ff));
  --text: var(--usage-chart-text, light-dark(#16191f, #eef0f4));
  --muted: var(--usage-chart-muted, light-dark(#59606d, #a3abb9));
  --grid: var(--usage-chart-grid, light-dark(#e7e9ee, #2b3039));
  --axis: var(--usage-chart-axis, light-dark(#b9bfca, #4b525e));
  display: block;
  box-sizing: border-box;
  min-width: 0;
  color: var(--text);
  font: 400 14px/1.4 var(--usage-chart-font, system-ui, sans-serif);
  font-variant-numeric: tabular-nums;
  text-align: start;
}
:host([hidden]) { display: none; }
.card {
  /* As high in every state: what the head needs more, the plot has less. */
  display: flex;
  flex-direction: column;
  position: relative;
  height: calc(var(--usage-chart-height, 220px) + var(--head, 70px));
  padding: var(--usage-chart-padding, 20px);
  background: var(--usage-chart-background, light-dark(#fff, #16191f));
  border: var(--usage-chart-border, 1px solid light-dark(#dfe2e8, #2b3039));
  border-radius: var(--usage-chart-radius, 12px);
}
:host([label]) { --head: 92px; }
.head { flex: none; min-height: 56px; }
.label { font-weight: 600; line-height: 22px; text-overflow: ellipsis; overflow: hidden; white-space: nowrap; }
.card:dir(rtl) .label { text-align: right; }
.total { font-size: 28px; line-height: 1.2; font-weight: 650; letter-spacing: -0.02em; }
.long { font-size: 20px; line-height: 34px; }
.total span { font-size: 14px; font-weight: 400; letter-spacing: 0; color: var(--muted); }
.total .change { margin-inline-start: 4px; font-weight: 600; color: var(--text); }
.range { display: flex; flex-wrap: wrap; column-gap: 16px; margin-top: 2px; color: var(--muted); }
.by:empty { display: none; }
.by::before { content: ''; display: inline-block; margin-inline-end: 6px; width: 6px; height: 10px; background: var(--bar); }
span.before::before { content: ''; display: inline-block; margin-inline-end: 6px; width: 14px; vertical-align: 4px; border-top: 2px dashed; }
.plot { position: relative; flex: 1; min-height: 0; margin-top: 14px; border-radius: 6px; touch-action: pan-y; }
:focus-visible { outline: 2px solid var(--bar); outline-offset: 4px; }
svg { position: absolute; inset: 0; display: block; overflow: visible; }
.bar { fill: var(--bar); }
.bar.part { fill-opacity: 0.35; stroke: var(--bar); stroke-dasharray: 3 2; }
.bar.marked { fill: var(--bar-marked); }
path.before { fill: none; stroke: var(--text); stroke-opacity: 0.7; stroke-width: 1.5; stroke-dasharray: 4 3; stroke-linecap: round; }
.first[data-state='loading'] .plot {
  background:
    linear-gradient(90deg, var(--grid) 16px, #0000 0) 0 0 / 66px 55%,
    linear-gradient(90deg, var(--grid) 16px, #0000 0) 22px 0 / 66px 80%,
    linear-gradient(90deg, var(--grid) 16px, #0000 0) 44px 0 / 66px 68%;
  background-repeat: repeat-x;
  background-position-y: 100%;
  animation: wait 1.2s infinite alternate;
}
.first[data-state='loading'] .total::before {
  content: '';
  display: block;
  width: 128px;
  height: 26px;
  border-radius: 6px;
  background: var(--grid);
}
.grid { stroke: var(--grid); }
.base { stroke: var(--axis); }
text { fill: var(--muted); font-size: 12px; }
.cursor { fill: var(--grid); opacity: 0; }
.cursor.shown { opacity: 0.6; }
.tooltip {
  position: absolute;
  top: 0;
  left: 0;
  z-index: 1;
  padding: 6px 10px;
  border-radius: 8px;
  background: light-dark(#16191f, #eef0f4);
  color: light-dark(#fff, #16191f);
  font-size: 13px;
  white-space: nowrap;
  pointer-events: none;
  box-shadow: 0 4px 14px rgb(0 0 0 / 18%);
}
.count { font-weight: 650; }
.tooltip span { display: block; }
.tooltip :not(.count) { opacity: 0.8; }
.message {
  position: absolute;
  inset: 0;
  display: grid;
  place-content: center;
  justify-items: center;
  gap: 12px;
  padding: 0 12px 26px;
  text-align: center;
  text-wrap: balance;
  overflow-wrap: anywhere;
  color: var(--muted);
}
.message:empty { display: none; }
[data-state='loading'] .message { opacity: 0; }
[data-state='loading'] svg { opacity: 0.35; }
[data-state='refused'] .head { min-height: 0; }
[data-state='refused'] .plot { margin: 0; }
[data-state='refused'] .message { color: var(--text); }
[data-state='empty'] .message { pointer-events: none; }
@keyframes wait { to { opacity: 0.45; } }
@media (prefers-reduced-motion: reduce) { .plot { animation: none !important; } }
button {
  font: inherit;
  padding: 6px 14px;
  border: 1px solid var(--axis);
  border-radius: 8px;
  background: none;
  color: var(--text);
  cursor: pointer;
}
@media (pointer: coarse) { button { min-height: 44px; } }
button:hover { border-color: var(--muted); }
.sr-only { position: absolute; width: 1px; height: 1px; clip-path: inset(50%); overflow: hidden; white-space: nowrap; }
@media (forced-colors: active) {
  .bar { fill: CanvasText; stroke: CanvasText; }
  .bar.marked { fill: Highlight; }
  text { fill: CanvasText; }
  .tooltip { border: 1px solid; }
}
`;
