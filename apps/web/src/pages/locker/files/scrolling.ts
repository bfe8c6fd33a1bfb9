// Where a list of any length is, in a box that scrolls. Browsers draw no element of forty million pixels, so a longer
// list moves as its box does while that moves a little, and in proportion when it jumps.

const LONGEST_PX = 8_000_000

export interface Geometry {
  rows: number
  rowPx: number
  /** Of what is seen of it. */
  viewPx: number
}

/** Of the element that makes the box scroll. */
export function boxPx({ rows, rowPx }: Geometry): number {
  return Math.min(rows * rowPx, LONGEST_PX)
}

/** The first pixel of the list that is seen, after the box was scrolled from one place to another. */
export function afterScroll(geometry: Geometry, top: number, from: number, to: number): number {
  const { rows, rowPx, viewPx } = geometry
  const last = Math.max(0, rows * rowPx - viewPx)
  const boxLast = Math.max(0, boxPx(geometry) - viewPx)
  if (rows * rowPx <= LONGEST_PX) return Math.min(to, last)
  if (to <= 0) return 0
  if (to >= boxLast) return last
  const isJump = Math.abs(to - from) > 2 * viewPx
  return isJump ? (to / boxLast) * last : Math.min(last, Math.max(0, top + to - from))
}

/** Where the box has to be for the list to be there. */
export function scrollFor(geometry: Geometry, top: number): number {
  const { rows, rowPx, viewPx } = geometry
  if (rows * rowPx <= LONGEST_PX) return top
  const last = rows * rowPx - viewPx
  return (top / last) * (boxPx(geometry) - viewPx)
}

/** The rows that are seen, and some around them. */
export function rowsInSight(
  { rows, rowPx, viewPx }: Geometry,
  top: number,
  around = 6,
): { first: number; end: number } {
  const first = Math.max(0, Math.floor(top / rowPx) - around)
  return { first, end: Math.min(rows, Math.ceil((top + viewPx) / rowPx) + around) }
}

/** The least movement that brings a row into sight. */
export function topShowing({ rowPx, viewPx }: Geometry, top: number, row: number): number {
  if (row * rowPx < top) return row * rowPx
  return Math.max(top, (row + 1) * rowPx - viewPx)
}
