// The tags that load the chart, as docs/embedding.md shows them.
import { pin } from '../../src/tools/chart.ts';

/**
 * The tag that loads the chart from `service`. If `code` is given, browsers run the chart only if it consists of exactly these bytes. After
 * a deployment that changes the chart, they refuse the new chart until the page contains the new tag.
 */
export function chartTag(service: string, code?: Uint8Array): string {
  if (code === undefined) return `<script type="module" src="${service}/v1/usage-chart.js"></script>`;
  const { path, integrity } = pin(code);
  return `<script type="module" src="${service}${path}" integrity="${integrity}" crossorigin></script>`;
}
