// The chart's style sheet. Pages can override the custom properties at the top and style the chart's elements with ::part().

export const STYLE = `
:host {
  --bar: var(--usage-chart-bar, light-dark(#3056d3, #7d9bff));
  --bar-marked: var(--usage-chart-bar-marked, color-mix(in srgb, var(--bar) 50%, var(--text)));
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
  overflow-wrap: anywhere;
}
:host([hidden]) { display: none; }
.card {
  /* The same height in every state: a taller head shrinks the plot. Only a very narrow card grows. */
  display: flex;
  flex-direction: column;
  position: relative;
  min-height: calc(var(--usage-chart-height, 220px) + var(--head, 70px));
  padding: var(--usage-chart-padding, 20px);
  background: var(--usage-chart-background, light-dark(#fff, #16191f));
  border: var(--usage-chart-border, 1px solid var(--grid));
  border-radius: var(--usage-chart-radius, 12px);
}
:host([label]) { --head: 92px; }
.label { font-weight: 600; line-height: 22px; text-overflow: ellipsis; overflow: hidden; white-space: nowrap; }
.total { font-size: 28px; line-height: 1.2; font-weight: 650; }
.total span { font-size: 14px; font-weight: 400; color: var(--muted); }
.total .change { margin-inline-start: 4px; font-weight: 600; color: var(--text); }
.total .so-far { display: inline-block; }
.range { display: flex; flex-wrap: wrap; column-gap: 16px; margin-top: 2px; color: var(--muted); text-wrap: pretty; }
span.before::before { content: ''; display: inline-block; margin-inline-end: 6px; width: 14px; vertical-align: 4px; border-top: 2px dashed; }
.plot { position: relative; flex: 1 0 80px; margin-top: 14px; touch-action: pan-y; outline-offset: 4px; }
svg { position: absolute; inset: 0; overflow: visible; }
.bar { fill: var(--bar); }
.bar.part { fill-opacity: 0.35; stroke: var(--bar); stroke-dasharray: 3 2; }
.bar.marked { fill: var(--bar-marked); }
path.before { fill: none; stroke: currentColor; stroke-width: 1.5; stroke-dasharray: 4 3; stroke-linecap: round; }
path.limit { stroke: light-dark(#b3261e, #ff8a80); stroke-width: 1.5; stroke-dasharray: 10 4; }
[data-state='loading'] .plot:not(:has(svg)) {
  background: repeating-linear-gradient(90deg, var(--grid) 0 16px, #0000 0 22px) 0 100% / 100% 60% no-repeat;
}
.grid { stroke: var(--grid); }
.base { stroke: var(--axis); }
text { fill: var(--muted); font-size: 12px; }
.cursor { fill: var(--grid); opacity: 0.6; }
.tooltip {
  position: absolute;
  top: 0;
  left: 0;
  padding: 6px 10px;
  border-radius: 8px;
  background: light-dark(#16191f, #eef0f4);
  color: light-dark(#fff, #16191f);
  font-size: 13px;
  pointer-events: none;
}
.count { font-weight: 650; }
.tooltip span { display: block; }
.message {
  position: absolute;
  inset: 0;
  display: grid;
  place-content: center;
  justify-items: center;
  gap: 12px;
  padding: 0 12px 26px;
  text-align: center;
}
.message:empty { display: none; }
[data-state='loading'] .message { opacity: 0; }
[data-state='loading'] svg { opacity: 0.35; }
[data-state='empty'] .message { pointer-events: none; }
button {
  font: inherit;
  min-height: 44px; /* touch target */
  padding: 6px 14px;
  border: 1px solid var(--axis);
  border-radius: 8px;
  background: none;
  color: var(--text);
  cursor: pointer;
}
.sr-only { position: absolute; width: 1px; height: 1px; clip-path: inset(50%); overflow: hidden; white-space: nowrap; }
@media (forced-colors: active) {
  .card { --bar: CanvasText; --bar-marked: Highlight; --muted: CanvasText; }
  /* The lines of the comparison and the limit have the color of the bars, which are hollow so that they show. */
  .bar { fill: Canvas; stroke: CanvasText; }
  path.limit { stroke: CanvasText; }
  .tooltip { border: 1px solid; }
}
`;
