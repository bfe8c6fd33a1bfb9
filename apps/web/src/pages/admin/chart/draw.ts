// Draws on a canvas. Loaded with the first chart.

import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'

interface Drawing {
  kind: 'bars' | 'lines'
  /** The times, then each series in drawing order: stacked bars from the tallest to the lowest. */
  data: (number | null)[][]
  colours: string[]
  text: string
  line: string
  font: string
  height: number
  /** The duration of a bar. */
  stepSeconds: number
  isBytes: boolean
  formatValue: (value: number) => string
  onPoint: (index: number | null) => void
}

export interface Drawn {
  point: (index: number | null) => void
  resize: (width: number) => void
  destroy: () => void
}

const BYTE_STEPS = Array.from({ length: 60 }, (_, power) => 2 ** power)

export function draw(into: HTMLElement, drawing: Drawing): Drawn {
  const { kind, data, colours, text, line, font, height, stepSeconds, isBytes, formatValue, onPoint } = drawing
  const times = data[0] as number[] // at least one
  const first = times[0] as number
  const last = times.at(-1) as number
  const margin = kind === 'bars' ? stepSeconds * 0.6 : first === last ? stepSeconds / 2 : 0
  const axis = { stroke: text, font, grid: { stroke: line, width: 1 }, ticks: { show: false } }
  const plot = new uPlot(
    {
      width: into.clientWidth,
      height,
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { show: kind === 'lines', size: 7 } },
      scales: {
        // The range of the data: for a single point, uPlot would show 1000 days.
        x: { range: () => [first - margin, last + margin] },
        y: { range: (_, _min, max) => [0, max > 0 ? max * 1.08 : 1] },
      },
      axes: [
        { ...axis, grid: { show: false }, space: 70, size: 30, values: timeLabels },
        {
          ...axis,
          size: 76,
          values: (_, ticks) => ticks.map(formatValue),
          ...(isBytes && { incrs: BYTE_STEPS }),
        },
      ],
      series: [
        {},
        ...colours.map(
          (colour): uPlot.Series => ({
            stroke: colour,
            width: kind === 'bars' ? 0 : 2,
            points: { show: kind === 'lines' && times.length === 1 },
            ...(kind === 'bars' && { fill: colour, paths: uPlot.paths.bars!({ size: [0.72, 44], radius: 0.12 }) }),
          }),
        ),
      ],
      hooks: { setCursor: [({ cursor: { idx } }) => onPoint(idx ?? null)] },
    },
    data as uPlot.AlignedData,
    into,
  )
  return {
    point: (index) => {
      const time = index === null ? undefined : times[index]
      plot.setCursor(
        time == null ? { left: -10, top: -10 } : { left: plot.valToPos(time, 'x'), top: plot.bbox.height / 2 },
        false,
      )
    },
    resize: (width) => plot.setSize({ width, height }),
    destroy: () => plot.destroy(),
  }
}

const DAY = 86_400
const TIME = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone: 'UTC' })
const DATE = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', timeZone: 'UTC' })
const MONTH = new Intl.DateTimeFormat('en', { month: 'short', year: 'numeric', timeZone: 'UTC' })

/** Labels with the hour within a day, the month within a year, or else the date. */
function timeLabels(_: uPlot, ticks: number[], __: number, ___: number, step: number): string[] {
  return ticks.map((tick) => {
    const isMidnight = tick % DAY === 0
    const format = step >= 28 * DAY ? MONTH : isMidnight ? DATE : TIME
    return format.format(tick * 1000)
  })
}
