import { number } from "../time";

export interface Bar {
  label: string;
  value: number;
}

interface BarsProps {
  title: string;
  bars: Bar[];
  /** Lines across, such as what is expected. */
  levels?: { name: string; value: number }[];
  /** What the bars were before a change: a line over them. */
  before?: number[];
  /** What a bar leads to. */
  onChosen?: (index: number) => void;
  /** The bar that is chosen. */
  chosen?: number;
}

const [WIDTH, HEIGHT] = [960, 180];

/** A bar chart; its values are read out as a sentence. */
export function Bars({ title, bars, levels = [], before = [], onChosen, chosen }: BarsProps) {
  const most = Math.max(1e-9, ...bars.map((bar) => bar.value), ...levels.map((one) => one.value), ...before);
  const y = (value: number) => HEIGHT - (value / most) * (HEIGHT - 14);
  const step = WIDTH / Math.max(1, bars.length);
  const fullest = bars.reduce((one, other) => (other.value > one.value ? other : one), bars[0]!);
  return (
    <figure class="chart">
      <figcaption>
        {title}. The fullest bar: {number(fullest?.value ?? 0)}
        {before.length > 0 && <span class="level before">Before, the fullest: {number(Math.max(...before))}</span>}
        {levels.map((level, at) => (
          <span class={`level level-${at}`}>
            {level.name}: {number(level.value)}
          </span>
        ))}
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" preserveAspectRatio="none">
        <title>{`${title}. The most: ${number(fullest?.value ?? 0)} at ${fullest?.label}.`}</title>
        {bars.map((bar, at) => (
          <g class={at === chosen ? "bar chosen" : "bar"} onClick={() => onChosen?.(at)}>
            <title>{`${bar.label}: ${number(bar.value)}`}</title>
            <rect class="hit" x={at * step} y="0" width={step} height={HEIGHT} />
            <rect
              class="value"
              x={at * step + Math.min(1, step / 6)}
              y={y(bar.value)}
              width={Math.max(0.6, step - Math.min(2, step / 3))}
              height={HEIGHT - y(bar.value)}
            />
          </g>
        ))}
        {before.length > 0 && (
          <path class="before" d={before.map((value, at) => `${at ? "L" : "M"}${at * step},${y(value)}h${step}`).join("")} />
        )}
        {levels.map((level, at) => (
          <line
            class={`level level-${at}`}
            x1="0"
            x2={WIDTH}
            y1={y(level.value)}
            y2={y(level.value)}
          />
        ))}
      </svg>
      <div class="axis" aria-hidden="true">
        <span>{bars[0]?.label}</span>
        <span>{bars[Math.floor(bars.length / 2)]?.label}</span>
        <span>{bars.at(-1)?.label}</span>
      </div>
    </figure>
  );
}
