// Draws the rows that compare several servers: a panel of bars for each. Plain SVG for light and dark pages.

import type { Chart, Row } from './row.ts'

const WIDTH = 880
const MARGIN = 24
const COLUMNS = 2
const GAP = 32
const PANEL = (WIDTH - 2 * MARGIN - (COLUMNS - 1) * GAP) / COLUMNS
const NAMES = 132
const VALUES = 64
const TRACK = PANEL - NAMES - VALUES
const BAR = 14
const LINE = 22
const HEAD = 52
const TOP = 100
const PANEL_GAP = 24
const NOTE = 18
const TITLE = 'The gateway and servers you could pick instead'

const STYLE = `
  text { font: 13px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif; fill: #57606a }
  .title { font-size: 20px; font-weight: 600; fill: #1f2328 }
  .panel { font-size: 14px; font-weight: 600; fill: #1f2328 }
  .ours { font-weight: 600; fill: #1f2328 }
  .small { font-size: 12px }
  .page { fill: #ffffff; stroke: #d0d7de }
  .bar { fill: #b6c2cf }
  .bar.first { fill: #1a7f5a }
  @media (prefers-color-scheme: dark) {
    text { fill: #9198a1 }
    .title, .panel, .ours { fill: #f0f6fc }
    .page { fill: #0d1117; stroke: #3d444d }
    .bar { fill: #4a5563 }
    .bar.first { fill: #3fb98a }
  }`

/** Null if no row has a chart. The first bar of each chart is the gateway's. */
export function picture(rows: readonly Row[], machine: string): string | null {
  const charts = rows.flatMap(({ chart, goal }) => (chart ? [{ ...chart, isLessBetter: 'atMost' in goal }] : []))
  if (charts.length === 0) return null
  const notes = (charts[0] as Chart).bars.map(({ name, does }) => `${name}: ${does}`)
  const panelHeight = HEAD + notes.length * LINE + PANEL_GAP
  const bottom = TOP + Math.ceil(charts.length / COLUMNS) * panelHeight
  const height = bottom + (notes.length + 1) * NOTE + MARGIN
  const panels = charts.map((chart, i) => {
    const x = MARGIN + (i % COLUMNS) * (PANEL + GAP)
    const y = TOP + Math.floor(i / COLUMNS) * panelHeight
    return `<g transform="translate(${x} ${y})">\n${panel(chart)}\n</g>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img">
<title>${escaped(TITLE)}</title>
<style>${STYLE}
</style>
<rect class="page" x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="8"/>
${text(MARGIN, 40, TITLE, 'title')}
${text(MARGIN, 62, machine, 'small')}
${panels.join('\n')}
${text(MARGIN, bottom, 'When they answer, an upload is', 'small ours')}
${notes.map((note, i) => text(MARGIN, bottom + (i + 1) * NOTE, note, 'small')).join('\n')}
</svg>
`
}

function panel({ title, unit, bars, isLessBetter }: Chart & { isLessBetter: boolean }): string {
  const most = Math.max(...bars.map(({ value }) => value ?? 0))
  const lines = bars.map(({ name, value }, i) => {
    const y = HEAD + i * LINE
    const kind = i === 0 ? 'ours' : ''
    const label = text(0, y, name, kind)
    if (value === null) return label + text(NAMES, y, 'cannot', 'small')
    const width = Math.max((value / most) * TRACK, 2)
    const bar = `<rect class="bar${i === 0 ? ' first' : ''}" x="${NAMES}" y="${y - 11}" width="${width.toFixed(1)}" height="${BAR}" rx="2"/>`
    return label + bar + text(NAMES + width + 6, y, figure(value), kind)
  })
  const better = `${unit}, ${isLessBetter ? 'less' : 'more'} is better`
  return [text(0, 8, title[0]?.toUpperCase() + title.slice(1), 'panel'), text(0, 26, better, 'small'), ...lines].join(
    '\n',
  )
}

function figure(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

function text(x: number, y: number, content: string, kind: string): string {
  return `<text x="${Math.round(x)}" y="${y}"${kind && ` class="${kind}"`}>${escaped(content)}</text>`
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
