// The tags that load the chart, as docs/embedding.md shows them.
import { pin } from '../../src/tools/chart.ts';

/**
 * The tag that loads the chart from `service`. With `code` it runs these bytes only: after a deployment that changes the chart,
 * browsers refuse it until the page has the new tag.
 */
export function chartTag(service: string, code?: Uint8Array): string {
  if (code === undefined) return `<script type="module" src="${service}/v1/usage-chart.js"></script>`;
  const { path, integrity } = pin(code);
  return `<script type="module" src="${service}${path}" integrity="${integrity}" crossorigin></script>`;
}
