import { InvalidArgumentError, Option } from 'commander'

export interface StatementOptions {
  statement?: number
}

export function statementOption(): Option {
  return new Option('--statement <number>', 'which statement; the newest unless given').argParser((text) => {
    const number = Number(text)
    if (/^\d+$/.test(text) && number < 2 ** 32) return number
    throw new InvalidArgumentError('It must be a whole number.')
  })
}

/** As the client takes it. */
export function sequenceOf({ statement }: StatementOptions): { sequence?: number } {
  return statement === undefined ? {} : { sequence: statement }
}
