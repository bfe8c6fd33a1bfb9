/** `npm run bench -- --quick` measures fewer rounds and smaller sizes. Its figures are rougher. */
export const isQuick = process.argv.includes('--quick')

/** The value for a full run, or the one for a quick run. */
export function scaled<T>(full: T, quick: T): T {
  return isQuick ? quick : full
}

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB']

/** For the name of a row: '256 MiB'. */
export function sizeText(bytes: number): string {
  const unit = Math.min(Math.floor(Math.log2(bytes) / 10), UNITS.length - 1)
  return `${bytes / 1024 ** unit} ${UNITS[unit]}`
}

/** For the name of a row: '1,000,000'. */
export function countText(count: number): string {
  return count.toLocaleString('en-US')
}
