/** `npm run bench -- --quick` measures fewer rounds and smaller sizes. Its figures are rougher. */
export const isQuick = process.argv.includes('--quick')

/** The value for a full run, or the one for a quick run. */
export function scaled<T>(full: T, quick: T): T {
  return isQuick ? quick : full
}

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB']

/** '256 MiB', for the name of a row. */
export function sizeText(bytes: number): string {
  const unit = Math.min(Math.floor(Math.log2(bytes) / 10), UNITS.length - 1)
  return `${bytes / 1024 ** unit} ${UNITS[unit]}`
}

/** '1,000,000', for the name of a row. */
export function countText(count: number): string {
  return count.toLocaleString('en-US')
}
