// Sizes, times and ids as text for people.

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB']

/** Three significant digits: `1.50 MiB`. */
export function bytesText(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1024
    unit++
  }
  if (unit === 0) return `${bytes} B`
  return `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ${UNITS[unit]}`
}

const STEPS: [seconds: number, name: string][] = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
]

/** The largest unit that fits: `3 days`, `1 minute`. */
export function durationText(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds))
  const [size, name] = STEPS.find(([step]) => whole >= step) ?? [1, 'second']
  return counted(Math.floor(whole / size), name)
}

/** `1 file`, `2 files`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`
}

/** `2026-06-12 10:30 UTC` of an ISO time in UTC. */
export function timeText(iso: string | null): string {
  return iso === null ? '-' : `${iso.slice(0, 16).replace('T', ' ')} UTC`
}

/** The beginning of a long id. */
export function short(id: string, length = 12): string {
  return id.length > length ? `${id.slice(0, length)}…` : id
}
