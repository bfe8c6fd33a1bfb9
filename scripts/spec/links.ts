import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export const DOCUMENTS = [
  '*.md',
  'docs/**/*.md',
  '{packages,apps}/*/{*,src/**/*}.md',
  '{contracts,acceptance,bench,fuzz,vectors,deploy,verifiers/*}/*.md',
]

/** Relative links of all documents whose file or heading does not exist. */
export function brokenLinks(): string[] {
  const headings = new Map<string, Set<string>>()
  const read = (file: string) => readFileSync(file, 'utf8')

  function hasHeading(file: string, heading: string): boolean {
    if (!headings.has(file)) headings.set(file, new Set([...read(file).matchAll(/^#+ (.+)$/gm)].map(anchor)))
    return headings.get(file)?.has(heading) ?? false
  }

  const broken = globSync(DOCUMENTS).flatMap((file) =>
    [...read(file).matchAll(/\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]*))?\)/g)].flatMap(([, to, heading]) => {
      const target = to ? join(dirname(file), to) : file
      if (!existsSync(target)) return `${file}: ${to} does not exist`
      return heading && !hasHeading(target, heading) ? `${file}: ${to}#${heading} does not exist` : []
    }),
  )
  return [...new Set(broken)]
}

/** The anchor that GitHub gives a heading. */
function anchor([, text]: RegExpMatchArray): string {
  return (text as string)
    .toLowerCase()
    .replace(/[^\w\s-]/g, '')
    .replaceAll(' ', '-')
}
