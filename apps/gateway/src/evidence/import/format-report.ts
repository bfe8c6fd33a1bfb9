import type { ImportReport, Remark } from './import-records.ts'

export function formatReport({ imported, existing, refused, unverified }: ImportReport, isDryRun: boolean): string {
  const counts = [
    `${imported} ${isDryRun ? 'would be imported' : 'imported'}`,
    `${existing} already present`,
    `${refused.length} refused`,
  ]
  const total = imported + existing + refused.length
  return [
    `${total} ${total === 1 ? 'record' : 'records'}: ${counts.join(', ')}.`,
    ...section(
      'Refused',
      refused.map((remark) => line(remark, `${remark.reason}: ${remark.problem}`)),
    ),
    ...section(
      'Unverified signature',
      unverified.map((remark) => line(remark, remark.problem)),
    ),
    '',
  ].join('\n')
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', `${title}:`, ...lines]
}

const MAX_CHARACTERS = 200

/** An export is untrusted: a terminal gets printable text only. */
function line({ at, lockerId }: Remark, text: string): string {
  const printable = text.replace(/\P{ASCII}|\p{Cc}/gu, '?')
  const short = printable.length > MAX_CHARACTERS ? `${printable.slice(0, MAX_CHARACTERS)}...` : printable
  return `  ${lockerId ? `${at} (${lockerId})` : at}: ${short}`
}
