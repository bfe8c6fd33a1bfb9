// The scroll position of a list of any length. Browsers limit the height of an element, so a longer list follows small
// movements of its box directly, and jumps in proportion.

const LONGEST_PX = 8_000_000

export interface Geometry {
  rows: number
  rowPx: number
  /** The height of the visible part. */
  viewPx: number
}

/** The height of the element inside the scrolling box. */
export function boxPx({ rows, rowPx }: Geometry): number {
  return Math.min(rows * rowPx, LONGEST_PX)
}

/** The first visible pixel of the list after the box was scrolled. */
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

/** The scroll position of the box for a position in the list. */
export function scrollFor(geometry: Geometry, top: number): number {
  const { rows, rowPx, viewPx } = geometry
  if (rows * rowPx <= LONGEST_PX) return top
  const last = rows * rowPx - viewPx
  return (top / last) * (boxPx(geometry) - viewPx)
}

/** The visible rows, and some around them. */
export function rowsInSight(
  { rows, rowPx, viewPx }: Geometry,
  top: number,
  around = 6,
): { first: number; end: number } {
  const first = Math.max(0, Math.floor(top / rowPx) - around)
  return { first, end: Math.min(rows, Math.ceil((top + viewPx) / rowPx) + around) }
}

/** The position after the smallest movement that makes a row visible. */
export function topShowing({ rowPx, viewPx }: Geometry, top: number, row: number): number {
  if (row * rowPx < top) return row * rowPx
  return Math.max(top, (row + 1) * rowPx - viewPx)
}
