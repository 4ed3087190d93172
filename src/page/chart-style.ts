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
  text-align: start;
}
:host([hidden]) { display: none; }
.card {
  position: relative;
  padding: var(--usage-chart-padding, 20px);
  background: var(--usage-chart-background, light-dark(#fff, #16191f));
  border: var(--usage-chart-border, 1px solid light-dark(#dfe2e8, #2b3039));
  border-radius: var(--usage-chart-radius, 12px);
}
p { margin: 0; }
header { min-height: 56px; }
.card:is([data-state='refused'], [data-state='incomplete']) header { display: none; }
.total { font-size: 28px; line-height: 1.2; font-weight: 650; letter-spacing: -0.02em; font-variant-numeric: tabular-nums; }
.total span { font-size: 14px; font-weight: 400; letter-spacing: 0; color: var(--muted); }
.range { margin-top: 2px; color: var(--muted); }
.plot { position: relative; height: var(--usage-chart-height, 220px); margin-top: 14px; border-radius: 6px; touch-action: pan-y; }
.plot:focus { outline: none; }
.plot:focus-visible { outline: 2px solid var(--bar); outline-offset: 4px; }
svg { display: block; position: absolute; inset: 0; overflow: visible; }
.bar { fill: var(--bar); }
.bar.marked { fill: var(--bar-marked); }
.grid { stroke: var(--grid); }
.base { stroke: var(--axis); }
.label { fill: var(--muted); font-size: 12px; font-variant-numeric: tabular-nums; }
.cursor { fill: var(--grid); opacity: 0; }
.cursor.shown { opacity: 0.6; }
.tip {
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
.tip b { display: block; font-weight: 650; font-variant-numeric: tabular-nums; }
.tip span { opacity: 0.8; }
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
.card:is([data-state='refused'], [data-state='incomplete']) .plot { height: auto; margin: 0; }
.card:is([data-state='refused'], [data-state='incomplete']) .message { position: static; min-height: 120px; padding: 0; }
.card[data-state='refused'] .message { color: var(--text); }
.card[data-state='empty'] .message { pointer-events: none; }
.card[data-state='loading'] svg { opacity: 0.35; }
.card[data-state='loading'] .message { opacity: 0; animation: appear 0.2s 0.3s forwards; }
@keyframes appear { to { opacity: 1; } }
button {
  font: inherit;
  color: var(--text);
  padding: 6px 14px;
  border: 1px solid var(--axis);
  border-radius: 8px;
  background: none;
  cursor: pointer;
}
button:hover { border-color: var(--muted); }
button:focus-visible { outline: 2px solid var(--bar); outline-offset: 2px; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
[hidden] { display: none; }
@media (forced-colors: active) {
  .bar { fill: CanvasText; }
  .bar.marked { fill: Highlight; }
  .label { fill: CanvasText; }
  .tip { border: 1px solid; }
}
`;
