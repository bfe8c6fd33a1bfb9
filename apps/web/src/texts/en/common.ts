// Words and numbers that many pages show.

const count = new Intl.NumberFormat('en')
const dollars = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD', maximumFractionDigits: 4 })
const sizes = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })

export const common = {
  states: {
    loading: 'Loading…',
    retry: 'Try again',
    close: 'Close',
    cancel: 'Cancel',
    required: 'required',
    noAnswer: 'The gateway did not answer',
  },

  copy: {
    copy: 'Copy',
    copied: 'Copied',
    refused: 'The browser does not allow copying here',
    label: (what: string) => `Copy ${what}`,
  },

  bytes: (bytes: number) => {
    if (bytes === 1) return '1 byte'
    const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']
    const step = bytes === 0 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10))
    return `${sizes.format(bytes / 1024 ** step)} ${units[step]}`
  },
  number: (value: number) => count.format(value),
  /** `1 file`, `2 files`. */
  counted: (number: number, one: string, many = `${one}s`) => `${count.format(number)} ${number === 1 ? one : many}`,
  /** A whole number given as digits, of any length. */
  integer: (digits: string) => count.format(BigInt(digits)),
  dollars: (usd: number) => dollars.format(usd),
}
