// Names of files within a line of text.

import type { FileProblem, FilesReport } from '@svc/verifier/check-files'
import { quoted } from '@svc/verifier/untrusted'
import { counted } from '../output/quantities.ts'
import { shown } from '../output/shown.ts'

const SINGULAR: Record<FileProblem, string> = {
  missing: 'is missing',
  changed: 'differs',
  unreadable: 'cannot be read',
  unsafe: 'has a name that leaves the folder',
  extra: 'is not in the bundle',
}
const PLURAL: Record<FileProblem, string> = {
  missing: 'are missing',
  changed: 'differ',
  unreadable: 'cannot be read',
  unsafe: 'have names that leave the folder',
  extra: 'are not in the bundle',
}

/** `contract.txt differs; a.txt, b.txt and 2 more are missing` */
export function wrongFilesText({ counts, names }: FilesReport): string {
  return (Object.keys(counts) as FileProblem[])
    .filter((problem) => counts[problem] > 0)
    .map((problem) => {
      const count = counts[problem]
      const which = names[problem].length > 0 ? namesText(names[problem], count) : counted(count, 'file')
      return `${which} ${count === 1 ? SINGULAR[problem] : PLURAL[problem]}`
    })
    .join('; ')
}

/** The number of names in the line. */
export const MOST_NAMES = 3

/** The first names, and the number of others. */
export function namesText(names: readonly string[], total: number): string {
  const first = names.slice(0, total > MOST_NAMES ? MOST_NAMES - 1 : MOST_NAMES).map(nameText)
  const rest = total - first.length
  const [last, ...before] = [...first, ...(rest > 0 ? [`${rest.toLocaleString('en')} more`] : [])].reverse()
  return before.length > 0 ? `${before.reverse().join(', ')} and ${last}` : (last ?? '')
}

/** Names are untrusted: a name that could be read as a part of the line is quoted. */
function nameText(name: string): string {
  return /^[^\s,;:()"']{1,60}$/u.test(name) ? shown(name) : quoted(name.replaceAll('"', '\\"'))
}
