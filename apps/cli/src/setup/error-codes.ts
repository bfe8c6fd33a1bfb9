import { adviceOn, COMMAND_ADVICE } from '@svc/api/error-advice'
import { ERROR_GUIDE } from '@svc/api/error-guide'
import { ERROR_STATUS, type ErrorCode } from '@svc/api/errors'
import { type Command, InvalidArgumentError } from 'commander'
import { pairs, table } from '../output/table.ts'
import type { Open } from '../session.ts'

export function add(program: Command, open: Open): void {
  program
    .command('errors')
    .description('what an error code means and what to do next; makes no request')
    .argument('[code]', 'the `error` of an answer, in upper or lower case: quote_expired', codeNamed)
    .action(async (code: ErrorCode | undefined, _: object, command: Command) => {
      const { output } = await open(command)
      if (code === undefined) output.result({ errors: CODES.map(explained) }, listText)
      else output.result(explained(code), () => codeText(code))
    })
}

const CODES = Object.keys(ERROR_GUIDE) as ErrorCode[]

function codeNamed(text: string): ErrorCode {
  const code = CODES.find((known) => known.toLowerCase() === text.toLowerCase())
  if (!code) throw new InvalidArgumentError('The code is unknown: `svc errors` lists all codes.')
  return code
}

function explained(code: ErrorCode) {
  const { cause, next } = ERROR_GUIDE[code]
  const svc = adviceOn(COMMAND_ADVICE, code)
  return { code, status: ERROR_STATUS[code], cause, next, ...(svc && { svc }) }
}

function listText(): string {
  const byStatus = CODES.toSorted((a, b) => ERROR_STATUS[a] - ERROR_STATUS[b])
  const rows = byStatus.map((code) => [code, String(ERROR_STATUS[code]), ERROR_GUIDE[code].cause])
  return table([{ title: 'CODE' }, { title: 'STATUS' }, { title: 'CAUSE' }], rows)
}

function codeText(code: ErrorCode): string {
  const { status, cause, next, svc } = explained(code)
  return pairs([
    [code, `HTTP ${status}`],
    ['cause', cause],
    ['next', next],
    ...(svc ? [['with svc', svc] as const] : []),
  ])
}
