// A chart with a legend that toggles series, a reading that follows the pointer or the arrow keys, and the same numbers
// as a table and as CSV.

import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { texts } from '#texts/admin'
import { theme } from '../../../shell/theme.ts'
import { Button } from '../../../ui/button.tsx'
import { Table } from '../../../ui/table.tsx'
import { saveCsv } from '../csv.ts'
import type { Drawn } from './draw.ts'
import './chart.css'
import { type ChartData, stack, sum } from './series.ts'

const t = texts.chart
const HEIGHT = 260
const FONT_SIZE = '12px'

interface ChartProps extends ChartData {
  title: string
  kind: 'bars' | 'lines'
  stepSeconds: number
  formatValue: (value: number) => string
  isBytes?: boolean
  /** The name of the CSV file, without its ending. */
  fileName: string
}

export function Chart({ title, kind, times, series, stepSeconds, formatValue, isBytes = false, fileName }: ChartProps) {
  const hidden = useSignal<ReadonlySet<string>>(new Set())
  const point = useSignal<number | null>(null)
  const figure = useRef<HTMLElement>(null)
  const plot = useRef<HTMLDivElement>(null)
  const drawn = useRef<Drawn | null>(null)
  const isShown = (index: number) => !hidden.value.has(series[index]?.label ?? '')
  const timeText = (index: number) => t.time((times[index] ?? 0) * 1000, stepSeconds)

  useEffect(() => {
    const system = matchMedia('(prefers-color-scheme: dark)')
    let isGone = false
    let resizing: ResizeObserver | null = null
    const redraw = async () => {
      const { draw } = await import('./draw.ts')
      const into = plot.current
      if (isGone || !into || !figure.current) return
      drawn.current?.destroy()
      const colourOf = (selector: string) => colour(figure.current?.querySelector(selector))
      const columns =
        kind === 'bars' ? stack(series, isShown) : series.map((one, i) => (isShown(i) ? one : null)?.values)
      const order = series.map((_, i) => (kind === 'bars' ? series.length - 1 - i : i))
      drawn.current = draw(into, {
        kind,
        data: [[...times], ...order.map((i) => [...(columns[i] ?? times.map(() => null))])],
        colours: order.map((i) => colourOf(`.chart-${i + 1}`)),
        text: colourOf('.chart-axis'),
        line: colourOf('.chart-line'),
        font: `${FONT_SIZE} ${getComputedStyle(into).fontFamily}`,
        height: HEIGHT,
        stepSeconds,
        isBytes,
        formatValue,
        onPoint: (index) => {
          point.value = index
        },
      })
      drawn.current.point(point.peek())
    }
    void redraw().then(() => {
      if (isGone || !plot.current) return
      resizing = new ResizeObserver(([entry]) => drawn.current?.resize(entry?.contentRect.width ?? 0))
      resizing.observe(plot.current)
    })
    const onScheme = () => void redraw()
    system.addEventListener('change', onScheme)
    return () => {
      isGone = true
      resizing?.disconnect()
      system.removeEventListener('change', onScheme)
      drawn.current?.destroy()
      drawn.current = null
    }
  }, [times, series, hidden.value, theme.value])

  const move = (event: KeyboardEvent) => {
    const last = times.length - 1
    const now = point.value ?? last
    const next = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: last }[event.key]
    if (next === undefined) return
    event.preventDefault()
    point.value = Math.max(0, Math.min(last, next))
    drawn.current?.point(point.value)
  }
  const toggle = (label: string) => {
    const next = new Set(hidden.value)
    if (!next.delete(label)) next.add(label)
    hidden.value = next
  }
  const shown = series.filter((_, i) => isShown(i))
  const readingAt = (index: number) =>
    t.reading(
      timeText(index),
      shown.map(({ label, values }) => [label, valueText(values[index] ?? null, formatValue)]),
    )
  const at = Math.min(point.value ?? times.length - 1, times.length - 1)
  const rows = () =>
    times.map((_, i) => [timeText(i), ...series.map(({ values }) => valueText(values[i] ?? null, formatValue))])
  return (
    <figure class="chart" ref={figure}>
      <span class="chart-axis" hidden />
      <span class="chart-line" hidden />
      <ul class="chart-legend" aria-label={t.legend(title)}>
        {series.map(({ label, values }, i) => (
          <li key={label}>
            <button type="button" aria-pressed={isShown(i)} onClick={() => toggle(label)}>
              <span class={`chart-swatch chart-${i + 1}`} aria-hidden="true" />
              {label}
              <b>{kind === 'bars' ? formatValue(sum(values)) : valueText(values.at(-1) ?? null, formatValue)}</b>
            </button>
          </li>
        ))}
      </ul>
      <div
        class="chart-plot"
        ref={plot}
        role="slider"
        tabIndex={0}
        aria-label={t.label(title)}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, times.length - 1)}
        aria-valuenow={at}
        aria-valuetext={readingAt(at)}
        onKeyDown={move}
      />
      <figcaption class="chart-reading">{point.value === null ? t.hint : readingAt(at)}</figcaption>
      <details class="chart-table">
        <summary>{t.asTable}</summary>
        <Table
          caption={texts.table(title)}
          head={[t.timeHead, ...series.map(({ label }) => label)]}
          numeric={series.map((_, i) => i + 1)}
          rows={rows().reverse()}
        />
      </details>
      <Button
        onClick={() =>
          saveCsv(fileName, [
            [t.timeHead, ...series.map(({ label }) => label)],
            ...times.map((time, i) => [
              new Date(time * 1000).toISOString(),
              ...series.map(({ values }) => values[i] ?? ''),
            ]),
          ])
        }
      >
        {t.csv}
      </Button>
    </figure>
  )
}

function valueText(value: number | null, formatValue: (value: number) => string): string {
  return value === null ? t.unknown : formatValue(value)
}

/** The computed colour of an element, because a canvas cannot read custom properties. */
function colour(element: Element | null | undefined): string {
  return element ? getComputedStyle(element).color : ''
}
