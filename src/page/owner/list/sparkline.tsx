// Draws a business's daily uses as a sparkline. It is hidden from screen readers, because the text beside it conveys the trend.
import type { Day } from '../../scale.ts';

const WIDTH = 120;
const HEIGHT = 28;
const EDGE = 2; // keeps the line from being clipped

export function Sparkline({ used }: { used: readonly Day[] }) {
  const most = Math.max(1, ...used.map(({ count }) => count));
  const step = (WIDTH - 2 * EDGE) / Math.max(1, used.length - 1);
  const points = used.map(({ count }, index) => {
    const y = HEIGHT - EDGE - (count / most) * (HEIGHT - 2 * EDGE);
    return `${(EDGE + index * step).toFixed(1)} ${y.toFixed(1)}`;
  });
  const line = `M${points.join('L')}`;
  return (
    <svg class="sparkline" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width={WIDTH} height={HEIGHT} aria-hidden="true">
      <path class="area" d={`${line}V${HEIGHT}H${EDGE}Z`} />
      <path class="stroke" d={line} />
    </svg>
  );
}
